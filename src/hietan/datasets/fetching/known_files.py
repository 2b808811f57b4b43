"""The SHA-256 of files whose content never changes, by their place in the data directory.

Only hashes that were computed from the files themselves, or that their publishers quote, are here; for any
other file the hash of the first download is kept beside it.
"""

_SUMS = """
de6357f6f794cdbc1224885516c6034d8a133159202b6d1dcab1e7de617b294e  ageing-2014/Fly/DM-BP.txt
a7e134e3546c7c0709c2c656c04fe426e73ecf85f9f87f673cade5a661c9e2ce  ageing-2014/Fly/DM-BPCC.txt
cb5cf5142a80c086948c3e9c53a0ef01b7dbbb0de8a6a5bdf2cfc37a645d91c9  ageing-2014/Fly/DM-BPMF.txt
c155e8725b283e65a3b2ee26ec424920e805914682d95eb207cc2ccaa9d6ccf3  ageing-2014/Fly/DM-BPMFCC.txt
4e3fecef530b470b2a243a4ee9890a3604cef271aca8b1a54fef2ec935938411  ageing-2014/Fly/DM-CC.txt
dcae43dd93552f3cdff34856c9330fea8934fb19dba7d8fe8ebb867691b6af11  ageing-2014/Fly/DM-MF.txt
b488cf6b2e4a81198e788fa292f1130c0595d90bce2be91c1361e92a129144ac  ageing-2014/Fly/DM-MFCC.txt
bd78313ff241d5a2a6644baf0924060520d9097bfc50b4ae7d1e3588251dae36  ageing-2014/Genage-4ModelOrganisms.zip
a92ff331fbab8ab992606261eb24ecb23028fe7b537ca245372997c4aa3cfe8a  ageing-2014/Mouse/MM-BP.txt
e66d859f9aa6a51f7c361186fdfe172baa278a007ae9e286a9ec62806fd8b45e  ageing-2014/Mouse/MM-BPCC.txt
5abff2b55b1b4f7032f42fe38fc71df32e16624fccf9d7043e09ba4915b2bff1  ageing-2014/Mouse/MM-BPMF.txt
9908a7218afd7923cb89ff65361a5b9e706783f3bf645579094135d8fcd37ce7  ageing-2014/Mouse/MM-BPMFCC.txt
10c7c16a788a3f475f0ca7f63ac1505d73ca73db415b0a14606dceb2638c1f6d  ageing-2014/Mouse/MM-CC.txt
100349c84f6c7f8646f3d9e50cedd4870080858a9e1d37086aafd79af81ef44e  ageing-2014/Mouse/MM-MF.txt
b1c8111f25f84f343bce02a5650f0fa6c323459c1b79bf082153da6f53fa44bc  ageing-2014/Mouse/MM-MFCC.txt
9a6a579fb96a525ebc87d14680c5194cd51b1b70850b0cf3df5cecdc3ca3006c  ageing-2014/Worm/CE-BP.txt
8ec9ac0e51cc58c52b47ad4585ec161710757ebcbc64e58fbefe5c0e4bbe4267  ageing-2014/Worm/CE-BPCC.txt
4866f1cdc09f2e9326baa1a8ea8ed62aa8a73241ae61b7f8ac3a6d8818961268  ageing-2014/Worm/CE-BPMF.txt
00878a3be119814786ed09f5577d90a5fb7da9b7a695c6d7461423dcf3ba3905  ageing-2014/Worm/CE-BPMFCC.txt
d28f1e5a19aa94450ac2a4b2a4baaf4eb2cf10e032c63f126c0937c701277306  ageing-2014/Worm/CE-CC.txt
1becd5f55ead9b4ef6344b2bd29a90dbd1c5b3adbdb203c084ac12c6f1b4f784  ageing-2014/Worm/CE-MF.txt
4dbf663eab24f75fcf30bfbd3e6af0fd899af603f7fa9acb8897de38a6b8b969  ageing-2014/Worm/CE-MFCC.txt
08b83b80ae82ef2ac4d1661c82b684ca5eb4003cf21be8a8245a3d41e91768c9  ageing-2014/Yeast/SC-BP.txt
f7715e8235fc4daa65cf9f63d9847249038bcff6f4b633811608d79b466c37e7  ageing-2014/Yeast/SC-BPCC.txt
6362f9d42294fc750c5c5d1cd7200584e53577e2a7b001a26638403ade5698fa  ageing-2014/Yeast/SC-BPMF.txt
700e230106fb0689afcbdba5ce49b2deadb286a9b3ac0a9ebb8e25f7e6734c31  ageing-2014/Yeast/SC-BPMFCC.txt
6c20d2011d3245f5ee5eb138f08020f03273383129075df0da7b38a3f93b7d8b  ageing-2014/Yeast/SC-CC.txt
7f75b6a21b355aaa5f54b5cfcc96e65cf73133ff89671565dd06f7e166065cb4  ageing-2014/Yeast/SC-MF.txt
f1554311889e1f3c7b3f9f4522d35d163a61b2deb2a8252b3c3be3eebe8f9a67  ageing-2014/Yeast/SC-MFCC.txt
977c1b88a38ecb2529dd4ddd71d9f35db8504655c55bc5ab1fe11905bb565919  ageing-2014/gene_ontology_ext_13062014.obo.zip
aa47bcc550f9256752b2be56a674f752b2ae10a43a183f83dfaad00acfb4a22d  genage-2025/genage_human_2025.csv
80fd43176fadafea80cbcca4d4acb5398a5863c80cc662bd666c2f455db31a8e  genage-2025/genage_models_2025.csv
25328a55c4511c073b6f036642961d8ab594e92c142c11b5889228af7688deea  go-2019/GO.goa_fly_2019.01.29.gz
582b9bb96305c6c23325dbc85dceec22a10b55e3234b01efe56fbe04a4db8e3d  go-2019/GO.goa_worm_2019.01.29.gz
e509c01953ed8849821e4ded4f5b276a1e6b6766ab3c6e52762fe0f58a340556  go-2019/GeneOntology_2019.01.29.obo.gz
c72fc198a86983d55e43aac585d1ffdbeb6e3601475b3f18b6045acdc0a0734c  gene-ontology/2026-06-19/go-basic.obo
"""

KNOWN_HASHES: dict[str, str] = {
    path: digest for digest, path in (line.split("  ") for line in _SUMS.strip().splitlines())
}
