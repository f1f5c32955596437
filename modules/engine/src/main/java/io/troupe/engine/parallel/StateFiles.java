package io.troupe.engine.parallel;

import java.nio.file.Path;
import java.util.List;

/**
 * Files that a trainer has made for its ranks to write their pieces into.
 *
 * @param folder of the files
 * @param names of the files, relative to the folder; each holds tensors that no other file holds
 * @param parts of the state that the files have
 * @param durable whether what is written must outlive a power failure
 */
public record StateFiles(Path folder, List<String> names, List<StatePart> parts, boolean durable) {
  public StateFiles {
    names = List.copyOf(names);
    parts = List.copyOf(parts);
  }
}
