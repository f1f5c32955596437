package io.troupe.base.failure;

import java.io.Closeable;
import java.io.IOException;

/** Closes connections and files that are out of use. */
public final class Closing {
  private Closing() {}

  /** Closes a resource; a failure to close it changes nothing, because nothing is written to it. */
  public static void quietly(Closeable unneeded) {
    try {
      unneeded.close();
    } catch (IOException gone) {
      // The resource is closed.
    }
  }
}
