package io.troupe.store.objects;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * A store of whole objects under keys, such as a bucket of S3. An object appears whole or not at
 * all, and a reader sees the last one that was put.
 */
public interface ObjectStore extends AutoCloseable {
  /**
   * The content of a small object.
   *
   * @param tag that identifies this content of the key
   */
  @SuppressWarnings("ArrayRecordComponent") // carried, never compared
  record Content(byte[] bytes, String tag) {}

  /** An object as a listing names it. */
  record Entry(String key, long bytes) {}

  /**
   * A part that was stored.
   *
   * @param tag that the store gave it
   * @param crc32 of its content, as Base64
   */
  record PartTag(String tag, String crc32) {}

  /** The content of an object; nothing if there is none. */
  Optional<Content> read(String key) throws ObjectStoreException;

  /** The size of an object in bytes; nothing if there is none. */
  Optional<Long> size(String key) throws ObjectStoreException;

  /**
   * Stores an object.
   *
   * @return tag of the object
   * @throws ObjectStoreException of kind CONFLICT if the condition does not hold; nothing was
   *     stored
   */
  String put(String key, byte[] content, PutCondition condition) throws ObjectStoreException;

  /** Begins an object that comes in parts; returns the id of the upload. */
  String beginUpload(String key) throws ObjectStoreException;

  /**
   * Stores a part, in place of a former one of its number.
   *
   * @param number from 1
   * @throws ObjectStoreException of kind ABSENT if there is no such upload
   */
  PartTag putPart(String key, String upload, int number, byte[] content)
      throws ObjectStoreException;

  /**
   * Makes the object of its parts.
   *
   * @param tags of all parts, in order
   * @throws ObjectStoreException of kind ABSENT if there is no such upload, or not any more
   */
  void completeUpload(String key, String upload, List<PartTag> tags) throws ObjectStoreException;

  /** Gives up an upload and its parts; an upload that is not there counts as given up. */
  void abortUpload(String key, String upload) throws ObjectStoreException;

  /** Writes an object to a file, which is whole or absent. */
  void download(String key, Path file) throws IOException;

  /** Returns all objects whose keys begin with a prefix, in the order of their keys. */
  List<Entry> list(String prefix) throws ObjectStoreException;

  /** The names between a prefix and the next slash, each once. */
  List<String> folders(String prefix) throws ObjectStoreException;

  /** Deletes an object; one that is not there counts as deleted. */
  void delete(String key) throws ObjectStoreException;

  @Override
  void close();
}
