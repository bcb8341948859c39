from small_index import index_folder, source_folder

__all__ = ["index_folder", "source_folder"]
