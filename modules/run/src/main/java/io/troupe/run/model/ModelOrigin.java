package io.troupe.run.model;

import java.io.IOException;
import java.nio.file.Path;

/** A place that models are fetched from. */
interface ModelOrigin {
  /** The files of a model that are wanted. */
  enum Part {
    ALL,

    /** The description without the weights: enough to know shapes, tokenizer and chat template. */
    DESCRIPTION;

    boolean has(String file) {
      return this == ALL || !file.endsWith(".safetensors");
    }
  }

  /** A word for the folder that holds what was fetched so far. */
  String key();

  /** The place where the origin looks for a model, for messages. */
  String place();

  /**
   * Fetches the files of a model, or those that are missing.
   *
   * @param into holds what an earlier fetch from this place brought
   * @param part of the model
   * @return whether the place has the model
   * @throws IOException if the place cannot be reached, or a file is not whole
   */
  boolean fetch(Path into, Part part) throws IOException;
}
