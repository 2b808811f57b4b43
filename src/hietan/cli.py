def main() -> None:
    print("hietan")
