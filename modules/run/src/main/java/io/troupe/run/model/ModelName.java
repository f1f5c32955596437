package io.troupe.run.model;

import io.troupe.base.hash.Sha256;
import io.troupe.store.s3.S3Address;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The place of a model, as {@code policy.checkpoint} names it. */
public sealed interface ModelName {
  /** A folder of this machine. */
  record Folder(Path path) implements ModelName {
    @Override
    public String toString() {
      return path.toString();
    }
  }

  /**
   * A repository of the hub.
   *
   * @param repository owner and name
   * @param revision commit, branch or tag
   */
  record Repository(String repository, String revision) implements ModelName {
    /** The folder of the model in the cache and on S3, without its revision. */
    String folder() {
      return repository.replace("/", "--");
    }

    @Override
    public String toString() {
      return revision.equals(MAIN) ? repository : repository + "@" + revision;
    }
  }

  /** A folder of an object store. */
  record ObjectStore(String address) implements ModelName {
    @Override
    public String toString() {
      return address;
    }
  }

  /** The revision of a name without one. */
  String MAIN = "main";

  /** Owner, name, and revision. */
  Pattern REPOSITORY = Pattern.compile("([A-Za-z0-9][\\w.-]*/[A-Za-z0-9][\\w.-]*)(?:@([\\w.-]+))?");

  /** Reads a name: an address on S3, a folder that exists, a repository, or else a folder. */
  static ModelName parse(String text) {
    if (S3Address.isOne(text)) {
      return new ObjectStore(text.replaceAll("/+$", ""));
    }
    Path path = Path.of(text);
    Matcher repository = REPOSITORY.matcher(text);
    if (!Files.isDirectory(path) && repository.matches()) {
      String revision = repository.group(2);
      return new Repository(repository.group(1), revision == null ? MAIN : revision);
    }
    return new Folder(path);
  }

  /** The folder within the cache; empty for a model that is not in the cache. */
  default String cached() {
    return switch (this) {
      case Folder _ -> "";
      case Repository model -> model.folder() + "/" + model.revision();
      case ObjectStore(String address) -> {
        String last = address.substring(address.lastIndexOf('/') + 1);
        String digest = Sha256.hex(address.getBytes(StandardCharsets.UTF_8)).substring(0, 8);
        yield "s3/" + last.replaceAll("[^\\w.-]", "-") + "-" + digest;
      }
    };
  }
}
