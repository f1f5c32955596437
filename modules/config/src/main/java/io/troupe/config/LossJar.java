package io.troupe.config;

import io.troupe.core.advantage.AdvantageFunction;
import io.troupe.core.loss.LossCheck;
import io.troupe.core.loss.LossFunction;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;

/**
 * Losses and advantages of a user's jar. Each is proved by {@link LossCheck} before it is used, and
 * made once in a process: its class loader lives as long as the process.
 */
public final class LossJar {
  private static final int NAMED_CLASSES = 8;
  private static final String SUFFIX = ".class";
  private static final ConcurrentHashMap<Source, Object> MADE = new ConcurrentHashMap<>();

  private record Source(Path jar, String className, Class<?> type) {}

  private LossJar() {}

  /** A loss or advantages that cannot be trained with. */
  public static final class RefusedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private RefusedException(String message) {
      super(message);
    }
  }

  /**
   * Returns the loss of a class.
   *
   * @throws RefusedException if the jar lacks it, or it fails the check; says what to do
   */
  public static LossFunction objective(Path jar, String className) {
    return (LossFunction) made(jar, className, LossFunction.class);
  }

  /**
   * Returns the advantages of a class.
   *
   * @throws RefusedException if the jar lacks it, or it fails the check; says what to do
   */
  public static AdvantageFunction advantages(Path jar, String className) {
    return (AdvantageFunction) made(jar, className, AdvantageFunction.class);
  }

  /**
   * Whether a class of the jar makes a loss; advantages otherwise.
   *
   * @throws RefusedException if the jar lacks it
   */
  public static boolean isObjective(Path jar, String className) {
    return LossFunction.class.isAssignableFrom(loaded(jar, className));
  }

  private static Object made(Path jar, String className, Class<?> type) {
    return MADE.computeIfAbsent(new Source(jar, className, type), LossJar::proved);
  }

  private static Object proved(Source source) {
    Object made = make(source);
    Optional<String> fault =
        source.type == LossFunction.class
            ? LossCheck.fault(source.className, (LossFunction) made)
            : LossCheck.advantageFault(source.className, (AdvantageFunction) made);
    if (fault.isPresent()) {
      throw new RefusedException(fault.get());
    }
    return made;
  }

  private static Object make(Source source) {
    Class<?> found = loaded(source.jar, source.className);
    if (!source.type.isAssignableFrom(found)) {
      throw new RefusedException(
          "%s of %s does not implement %s"
              .formatted(source.className, source.jar, source.type.getName()));
    }
    try {
      return found.getConstructor().newInstance();
    } catch (InvocationTargetException failed) {
      throw new RefusedException(
          "the constructor of %s failed: %s".formatted(source.className, failed.getCause()));
    } catch (ReflectiveOperationException | LinkageError closed) {
      throw new RefusedException(
          "%s must be a public class with a public constructor without parameters: %s"
              .formatted(source.className, closed));
    }
  }

  private static Class<?> loaded(Path jar, String className) {
    if (!Files.isRegularFile(jar) || !Files.isReadable(jar)) {
      throw new RefusedException(
          "the jar %s does not exist or cannot be read; build it, or correct the path"
              .formatted(jar));
    }
    try {
      // The loader stays open as long as the process, because classes are loaded when first used.
      ClassLoader loader =
          new URLClassLoader(new URL[] {jar.toUri().toURL()}, LossJar.class.getClassLoader());
      return Class.forName(className, true, loader);
    } catch (ClassNotFoundException absent) {
      throw new RefusedException(
          "%s has no class %s; it has %s".formatted(jar, className, classes(jar)));
    } catch (IOException | LinkageError unusable) {
      throw new RefusedException(
          "%s of %s cannot be loaded: %s; compile it for Java %d against this build of Troupe"
              .formatted(className, jar, unusable, Runtime.version().feature()));
    }
  }

  private static String classes(Path jar) {
    try (JarFile file = new JarFile(jar.toFile())) {
      List<String> names =
          file.stream()
              .map(ZipEntry::getName)
              .filter(name -> name.endsWith(SUFFIX))
              .map(name -> name.substring(0, name.length() - SUFFIX.length()).replace('/', '.'))
              .limit(NAMED_CLASSES)
              .toList();
      return names.isEmpty() ? "no class" : String.join(", ", names);
    } catch (IOException notOne) {
      return "none that can be read: " + notOne.getMessage();
    }
  }
}
