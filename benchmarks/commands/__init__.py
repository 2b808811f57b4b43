"""What the commands cost, compared with the same steps in Python, and where their time goes."""
