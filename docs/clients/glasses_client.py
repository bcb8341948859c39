"""An app at simulated glasses in Python's standard library: python glasses_client.py [ADDRESS]."""

import http.client
import json
import sys
import time
import urllib.error
import urllib.request

ADDRESS = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8780"


def answer(words, picture):
    """Your assistant: `words` is the event, `picture` a JPEG or None."""
    return "I don't know."


def ask(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(ADDRESS + path, data, timeout=40) as reply:
        return reply.read()


def main():
    after, lost = "", 0
    while lost < 20:
        try:
            event = json.loads(ask(f"/words?after={after}") or "{}")
            lost = 0
            if event.get("type") == "over":
                return
            if event.get("type") == "words":
                picture = ask("/frame.jpg") if event["frame"] else None
                after = event["to"]
                ask("/reply?app=python", {"to": after, "text": answer(event, picture)})
        except urllib.error.HTTPError as error:
            print(error, file=sys.stderr)  # 409: somebody else was faster, or it took too long
        except (OSError, http.client.HTTPException, ValueError):
            lost += 1  # the glasses are away; they come back to where they were
            time.sleep(0.5)


if __name__ == "__main__":
    main()
