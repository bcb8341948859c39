mmrag.compare = () => {};
