"""SmolLM2-135M-Instruct in this process: `weights` → `network` → `decoding` → `model`."""
