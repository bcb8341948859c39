"""mmrag: assistants for wearables, their searches, judges and measures."""
