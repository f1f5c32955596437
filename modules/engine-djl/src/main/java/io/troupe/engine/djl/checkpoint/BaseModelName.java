package io.troupe.engine.djl.checkpoint;

import java.nio.file.Path;

/**
 * The name of the model that a policy starts from, under which other programs find it.
 *
 * @param name a folder, or owner and name on the Hugging Face hub; empty for random weights
 * @param revision commit, branch or tag on the hub; empty for the main one
 */
public record BaseModelName(String name, String revision) {
  static final BaseModelName NONE = new BaseModelName("", "");

  static BaseModelName of(Path folder) {
    return new BaseModelName(folder.toAbsolutePath().normalize().toString(), "");
  }
}
