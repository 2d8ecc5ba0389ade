"""Checks tillgate.py against docs/test-vectors.json: python3 check_vectors.py ../../docs/test-vectors.json"""
import json
import sys

from tillgate import Tillgate

with open(sys.argv[1], encoding="utf-8") as file:
    vectors = json.load(file)
keys = vectors["keys"]
merchant_id = vectors["requests"][0]["envelope"]["merchantId"]
client = Tillgate("", merchant_id, keys["merchant"]["aesKey"], keys["merchant"]["privateKey"],
                  keys["gateway"]["publicKey"])

for v in vectors["requests"]:
    e = v["envelope"]
    assert client.string_to_sign(e["method"], v["body"], e["timestamp"]) == v["stringToSign"], v["name"]
    sealed = client.seal(e["method"], v["body"], e["timestamp"], bytes.fromhex(v["nonceHex"]))
    assert (sealed["sign"], sealed["body"]) == (e["sign"], e["body"]), v["name"]

for v in vectors["callbacks"]:
    e = v["envelope"]
    assert client.open_callback(json.dumps(e)) == v["body"], v["name"]
    for change in ({"timestamp": "1760000000001"}, {"merchantId": "100000000000000002"}, {"sign": e["body"]},
                   {"body": e["body"][:-4] + "AAA="}):
        assert client.open_callback(json.dumps({**e, **change})) is None, (v["name"], change)

print(f"{len(vectors['requests'])} requests and {len(vectors['callbacks'])} callbacks are right")
