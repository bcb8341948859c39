// An app at simulated glasses: node glasses_client.ts [ADDRESS], with Node 23.6 or newer.
const address = process.argv[2] ?? "http://127.0.0.1:8780";

type Words = { type: string; to: string; text: string; frame: string | null };

/** Your assistant: `words` is the event, `picture` a JPEG or null. */
async function answer(words: Words, picture: ArrayBuffer | null): Promise<string> {
  return "I don't know.";
}

async function main(): Promise<void> {
  let after = "";
  for (let lost = 0; lost < 20; ) {
    try {
      const next = await fetch(`${address}/words?after=${after}`);
      lost = 0;
      if (next.status !== 200) continue;
      const words = (await next.json()) as Words;
      if (words.type === "over") return;
      const picture = words.frame ? await fetch(`${address}/frame.jpg`) : null;
      after = words.to;
      await fetch(`${address}/reply?app=typescript`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ to: after, text: await answer(words, await picture?.arrayBuffer() ?? null) }),
      });
    } catch {
      lost++; // the glasses are away; they come back to where they were
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

await main();
