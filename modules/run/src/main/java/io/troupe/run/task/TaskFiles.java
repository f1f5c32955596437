package io.troupe.run.task;

import io.troupe.base.hash.Sha256;
import io.troupe.config.task.DataKeys;
import io.troupe.config.task.DataSection;
import io.troupe.config.task.DataSetSection;
import io.troupe.store.s3.S3Address;
import io.troupe.store.s3.S3Folders;
import io.troupe.tasks.fetch.DataCache;
import io.troupe.tasks.fetch.DataFolder;
import io.troupe.tasks.fetch.DataOrigin;
import io.troupe.tasks.fetch.HubOrigin;
import io.troupe.tasks.fetch.ObjectStoreOrigin;
import io.troupe.tasks.fetch.SplitRef;
import io.troupe.tasks.rows.TaskDataException;
import io.troupe.tasks.sets.DataSet;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The files that a task's configuration names, wherever they are. */
public final class TaskFiles {
  private static final Logger LOG = LoggerFactory.getLogger(TaskFiles.class);

  private final Path cacheRoot;
  private final DataCache cache;
  private final S3Folders s3;

  private TaskFiles(Path cacheRoot, DataCache cache, S3Folders s3) {
    this.cacheRoot = cacheRoot;
    this.cache = cache;
    this.s3 = s3;
  }

  /** Files found as {@code data} and the environment say. */
  public static TaskFiles of(DataSection data) {
    Map<String, String> environment = System.getenv();
    S3Folders s3 = new S3Folders(data.s3().settings());
    List<DataOrigin> origins = new ArrayList<>();
    if (!data.s3().s3Folder().isEmpty()) {
      origins.add(new ObjectStoreOrigin(s3::download, data.s3().s3Folder()));
    }
    if (data.hub()) {
      origins.add(
          new HubOrigin(
              environment.getOrDefault("HF_ENDPOINT", "https://huggingface.co"),
              environment.getOrDefault("HF_TOKEN", "")));
    }
    Path root = cacheFolder(data, environment);
    return new TaskFiles(
        root, new DataCache(root, origins, message -> LOG.warn("data={}", message)), s3);
  }

  private static Path cacheFolder(DataSection data, Map<String, String> environment) {
    if (!data.cache().isEmpty()) {
      return Path.of(data.cache());
    }
    String home = environment.getOrDefault("TROUPE_CACHE", "");
    return (home.isEmpty()
            ? Path.of(System.getProperty("user.home"), ".cache", "troupe")
            : Path.of(home))
        .resolve("datasets");
  }

  /** The data files of a split: those the section names, or the published ones. */
  List<Path> rows(DataSetSection.OfFiles section, String split) throws IOException {
    DataKeys data = section.data();
    if (!data.file().isEmpty()) {
      return found(data.file(), data.subset(), split);
    }
    DataSet set = DataSet.named(section.name()).orElseThrow();
    String subset = data.subset().isEmpty() ? set.home().folder() : data.subset();
    Path folder = cache.folder(new SplitRef(set.key(), set.home().repository(), subset, split));
    return DataFolder.cached(folder, subset, split);
  }

  /** Returns a file, or the one split of a folder that is held out. */
  List<Path> named(String place, String subset) throws IOException {
    return found(place, subset, Files.isDirectory(Path.of(place)) ? "test" : "");
  }

  /**
   * The data files at a place: a file, or those of a split in a folder, here or on S3. What is on
   * S3 is fetched once a machine.
   */
  public List<Path> data(String place, String subset, String split) throws IOException {
    if (!S3Address.isOne(place)) {
      return found(place, subset, split);
    }
    String plain = place.replaceAll("/+$", "");
    String name = plain.substring(plain.lastIndexOf('/') + 1);
    boolean file = DataFolder.hasRows(name);
    String digest = Sha256.hex(plain.getBytes(StandardCharsets.UTF_8)).substring(0, 12);
    DataOrigin origin =
        new DataOrigin() {
          @Override
          public String place(SplitRef wanted) {
            return plain;
          }

          @Override
          public boolean fetch(SplitRef wanted, Path into) throws IOException {
            if (file) {
              Files.write(into.resolve(name), s3.read(plain));
              return true;
            }
            return s3.download(plain, into) > 0;
          }
        };
    Path folder =
        new DataCache(cacheRoot, List.of(origin), message -> LOG.warn("data={}", message))
            .folder(new SplitRef(plain, "s3/" + digest, "", file ? "file" : "folder"));
    return file ? List.of(folder.resolve(name)) : DataFolder.files(folder, subset, split);
  }

  private static List<Path> found(String place, String subset, String split) throws IOException {
    if (place.contains("://")) {
      throw new TaskDataException(
          place + ": data files are local; fetch the file by hand and give its path");
    }
    return DataFolder.files(Path.of(place), subset, split);
  }

  /** The text of a small file, local or on S3. */
  String text(String place) throws IOException {
    if (S3Address.isOne(place)) {
      return decode(place, s3.read(place));
    }
    if (place.contains("://")) {
      throw new TaskDataException(
          place + ": the file must be local or on s3://; fetch it by hand and give its path");
    }
    Path file = Path.of(place);
    if (!Files.isRegularFile(file)) {
      throw new TaskDataException(
          place + ": no such file; relative paths start from the configuration");
    }
    return decode(place, Files.readAllBytes(file));
  }

  private static String decode(String place, byte[] text) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(text)).toString();
    } catch (CharacterCodingException e) {
      throw new TaskDataException(place + ": must be UTF-8 text, and is not");
    }
  }
}
