package io.troupe.tasks.fetch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A place on an object store with one folder a split, named {@code <data set>_<split>}.
 *
 * @param root such as {@code s3://bucket/datasets}
 */
public record ObjectOrigin(ObjectFolders objects, String root) implements DataOrigin {
  @Override
  public String place(Wanted wanted) {
    return "%s/%s_%s/".formatted(root.replaceAll("/+$", ""), wanted.name(), wanted.split());
  }

  @Override
  public boolean fetch(Wanted wanted, Path into) throws IOException {
    String folder = place(wanted);
    List<String> names = objects.names(folder);
    for (String name : names) {
      Path file = into.resolve(name).normalize();
      if (!file.startsWith(into) || name.endsWith("/")) {
        continue; // a folder's own entry
      }
      Files.createDirectories(file.getParent());
      objects.download(folder + name, file);
    }
    return !names.isEmpty();
  }
}
