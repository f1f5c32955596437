package io.troupe.cli.doctor;

import io.troupe.base.process.SearchPath;
import io.troupe.engine.djl.torch.TorchReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** The facts of the machine that checks read; tests replace them. */
public interface Machine {
  /** Variables of the environment. */
  Map<String, String> environment();

  /** A property of this Java. */
  String property(String name);

  /** The largest heap of this Java, in bytes. */
  long heap();

  int cores();

  /** The first lines of a file; nothing if it cannot be read. */
  Optional<String> read(Path file);

  /** Bytes a user can still write where a path is, or would be; nothing if that is unknown. */
  Optional<Long> free(Path path);

  boolean isDirectory(Path path);

  boolean canWrite(Path path);

  /** The program of that name on the search path. */
  Optional<Path> program(String name);

  /**
   * Loads PyTorch.
   *
   * @throws IllegalStateException if it cannot be loaded
   */
  TorchReport torch();

  /** Returns the path itself, or the nearest folder above it that exists. */
  private static Path nearest(Path path) {
    Path there = path.toAbsolutePath();
    while (there.getParent() != null && !Files.exists(there)) {
      there = there.getParent();
    }
    return there;
  }

  /** Returns this machine. */
  static Machine here() {
    return new Machine() {
      @Override
      public Map<String, String> environment() {
        return System.getenv();
      }

      @Override
      public String property(String name) {
        return System.getProperty(name, "");
      }

      @Override
      public long heap() {
        return Runtime.getRuntime().maxMemory();
      }

      @Override
      public int cores() {
        return Runtime.getRuntime().availableProcessors();
      }

      @Override
      public Optional<String> read(Path file) {
        try {
          return Optional.of(Files.readString(file));
        } catch (IOException unreadable) {
          return Optional.empty();
        }
      }

      @Override
      public Optional<Long> free(Path path) {
        try {
          return Optional.of(Files.getFileStore(nearest(path)).getUsableSpace());
        } catch (IOException unknown) {
          return Optional.empty();
        }
      }

      @Override
      public boolean isDirectory(Path path) {
        return Files.isDirectory(path);
      }

      @Override
      public boolean canWrite(Path path) {
        return Files.isWritable(nearest(path));
      }

      @Override
      public Optional<Path> program(String name) {
        return SearchPath.find(name);
      }

      @Override
      public TorchReport torch() {
        return TorchReport.load();
      }
    };
  }
}
