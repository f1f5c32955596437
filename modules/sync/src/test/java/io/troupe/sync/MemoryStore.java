package io.troupe.sync;

import io.troupe.base.hash.Sha256;
import io.troupe.store.objects.ObjectStore;
import io.troupe.store.objects.ObjectStoreException;
import io.troupe.store.objects.ObjectStoreException.Kind;
import io.troupe.store.objects.PutCondition;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * A store in memory whose changes fail as a seed says: before they are made, after they are made
 * with the answer lost, or with the end of the process.
 */
final class MemoryStore implements ObjectStore {
  /** The process ends here. */
  static final class Killed extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  final SortedMap<String, byte[]> objects = new TreeMap<>();
  private final Map<String, SortedMap<Integer, byte[]>> uploads = new HashMap<>();
  private final RandomGenerator random;
  private double trouble;
  private Consumer<String> onPut = _ -> {};
  private int lastUpload;

  MemoryStore(RandomGenerator random) {
    this.random = random;
  }

  /** Sets the probability with which each change fails. */
  MemoryStore trouble(double likely) {
    trouble = likely;
    return this;
  }

  /** Sets an action that runs while an object is stored. */
  MemoryStore onPut(Consumer<String> happens) {
    onPut = happens;
    return this;
  }

  private void before() throws ObjectStoreException {
    if (random.nextDouble() < trouble) {
      if (random.nextBoolean()) {
        throw new Killed();
      }
      throw new ObjectStoreException(Kind.UNAVAILABLE, "out of order");
    }
  }

  @Override
  public Optional<Content> read(String key) {
    return Optional.ofNullable(objects.get(key)).map(bytes -> new Content(bytes, tag(bytes)));
  }

  @Override
  public Optional<Long> size(String key) {
    return Optional.ofNullable(objects.get(key)).map(bytes -> (long) bytes.length);
  }

  @Override
  public String put(String key, byte[] content, PutCondition condition)
      throws ObjectStoreException {
    before();
    boolean holds =
        switch (condition) {
          case PutCondition.Always() -> true;
          case PutCondition.Absent() -> !objects.containsKey(key);
          case PutCondition.Tagged(String tag) ->
              read(key).map(Content::tag).equals(Optional.of(tag));
        };
    if (!holds) {
      throw new ObjectStoreException(Kind.CONFLICT, "condition");
    }
    objects.put(key, content);
    onPut.accept(key);
    before();
    return tag(content);
  }

  @Override
  public String beginUpload(String key) throws ObjectStoreException {
    before();
    String id = "u" + ++lastUpload;
    uploads.put(id, new TreeMap<>());
    before();
    return id;
  }

  @Override
  public PartTag putPart(String key, String upload, int number, byte[] content)
      throws ObjectStoreException {
    before();
    if (random.nextDouble() < trouble / 4) {
      uploads.remove(upload); // as a lifecycle rule does
    }
    parts(upload).put(number, content);
    before();
    return new PartTag(tag(content), "");
  }

  @Override
  public void completeUpload(String key, String upload, List<PartTag> tags)
      throws ObjectStoreException {
    before();
    ByteArrayOutputStream whole = new ByteArrayOutputStream();
    List<String> there = new ArrayList<>();
    for (byte[] part : parts(upload).values()) {
      there.add(tag(part));
      whole.writeBytes(part);
    }
    if (!there.equals(tags.stream().map(PartTag::tag).toList())) {
      throw new ObjectStoreException(Kind.REFUSED, "InvalidPart");
    }
    objects.put(key, whole.toByteArray());
    uploads.remove(upload);
    before();
  }

  @Override
  public void abortUpload(String key, String upload) {
    uploads.remove(upload);
  }

  private SortedMap<Integer, byte[]> parts(String upload) throws ObjectStoreException {
    SortedMap<Integer, byte[]> parts = uploads.get(upload);
    if (parts == null) {
      throw new ObjectStoreException(Kind.ABSENT, "NoSuchUpload");
    }
    return parts;
  }

  @Override
  public void download(String key, Path file) throws IOException {
    Files.createDirectories(file.getParent());
    Files.write(file, objects.get(key));
  }

  @Override
  public List<Entry> list(String prefix) {
    return objects.entrySet().stream()
        .filter(one -> one.getKey().startsWith(prefix))
        .map(one -> new Entry(one.getKey(), one.getValue().length))
        .toList();
  }

  @Override
  public List<String> folders(String prefix) {
    return List.of();
  }

  @Override
  public void delete(String key) throws ObjectStoreException {
    before();
    objects.remove(key);
    before();
  }

  @Override
  public void close() {}

  private static String tag(byte[] content) {
    return Sha256.hex(content).substring(0, 8);
  }
}
