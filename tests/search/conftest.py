from small_index import index, index_folder, source_folder

__all__ = ["index", "index_folder", "source_folder"]
