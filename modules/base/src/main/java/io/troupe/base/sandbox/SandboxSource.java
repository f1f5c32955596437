package io.troupe.base.sandbox;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * A file of a sandbox's own Python code, which its first process reads from its standard input.
 *
 * @param name of the file
 * @param text of the file
 */
public record SandboxSource(String name, String text) {
  /** Returns what takes a program's rights away, and what starts and ends it. */
  public static List<SandboxSource> walls() {
    return List.of(of(SandboxSource.class, "confine.py"), of(SandboxSource.class, "supervise.py"));
  }

  /** Returns a resource beside a class. */
  public static SandboxSource of(Class<?> owner, String name) {
    try (InputStream resource = owner.getResourceAsStream(name)) {
      if (resource == null) {
        throw new IllegalStateException("the sandbox's " + name + " is missing from its jar");
      }
      return new SandboxSource(name, new String(resource.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException unreadable) {
      throw new IllegalStateException("the sandbox's " + name + " cannot be read", unreadable);
    }
  }
}
