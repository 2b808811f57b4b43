"""Lines of GAF for tests."""


def gaf_line(
    object_id="P1", term="GO:1", symbol="daf-2", qualifier="", evidence="IMP", synonyms="a|b", taxon="6239"
):
    fields = [
        "UniProtKB",
        object_id,
        symbol,
        qualifier,
        term,
        "PMID:1",
        evidence,
        "",
        "P",
        "a protein",
        synonyms,
    ]
    return "\t".join([*fields, "protein", f"taxon:{taxon}", "20190101", "WB", "", ""])
