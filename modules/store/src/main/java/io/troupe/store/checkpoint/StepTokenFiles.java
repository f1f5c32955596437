package io.troupe.store.checkpoint;

import io.troupe.core.rollout.ScoredGroup;
import io.troupe.store.file.DiskFailureException;
import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.Deflater;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipException;

/**
 * The groups of each trained step with their tokens, so that training can be made again without the
 * engines that sampled: {@code tokens/step-N.jsonl.gz}, a group a line in the order of the batch.
 *
 * <p>Like the traces, they never stop training: a step whose file cannot be written is reported
 * once, and later ones are tried again. Files are not fsynced; gzip's checksum shows one that a
 * power failure cut off. A step that a resume makes again replaces its file.
 */
public final class StepTokenFiles {
  private static final Pattern NAME = Pattern.compile("step-(\\d+)\\.jsonl\\.gz");
  private static final int BUFFER_BYTES = 1 << 16;

  private final Optional<Path> folder;
  private final long keepBytes;
  private final Consumer<String> report;
  private final NavigableMap<Long, Long> sizes;
  private long total;
  private boolean reported;

  private StepTokenFiles(
      Optional<Path> folder,
      long keepBytes,
      Consumer<String> report,
      NavigableMap<Long, Long> sizes) {
    this.folder = folder;
    this.keepBytes = keepBytes;
    this.report = report;
    this.sizes = sizes;
    this.total = sizes.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Stores nothing. */
  public static StepTokenFiles off() {
    return new StepTokenFiles(Optional.empty(), 0, _ -> {}, new TreeMap<>());
  }

  /**
   * Stores into a folder, which is made.
   *
   * @param keepBytes of all files; the oldest steps are dropped beyond that, the newest stays. 0
   *     keeps all
   * @param report takes a sentence when a step cannot be stored, once
   */
  public static StepTokenFiles open(Path folder, long keepBytes, Consumer<String> report)
      throws IOException {
    try {
      Files.createDirectories(folder);
      return new StepTokenFiles(Optional.of(folder), keepBytes, report, sizes(folder));
    } catch (IOException failure) {
      throw DiskFailureException.explain("open the folder of tokens", folder, failure);
    }
  }

  /** Bytes of each step's file in a folder, which may not exist. */
  public static NavigableMap<Long, Long> sizes(Path folder) throws IOException {
    NavigableMap<Long, Long> sizes = new TreeMap<>();
    if (Files.isDirectory(folder)) {
      try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
        for (Path file : files) {
          Matcher name = NAME.matcher(file.getFileName().toString());
          if (name.matches()) {
            sizes.put(Long.valueOf(name.group(1)), Files.size(file));
          }
        }
      }
    }
    return sizes;
  }

  /** The file of a step. */
  public static Path file(Path folder, long step) {
    return folder.resolve("step-%d.jsonl.gz".formatted(step));
  }

  /**
   * Reads the groups of a step, in the order of its batch.
   *
   * @throws NoSuchFileException if the step was not stored
   * @throws IOException if the file is damaged; names it
   */
  public static List<ScoredGroup> read(Path folder, long step) throws IOException {
    Path file = file(folder, step);
    try (InputStream in = Files.newInputStream(file);
        BufferedReader lines =
            new BufferedReader(
                new InputStreamReader(
                    new GZIPInputStream(in, BUFFER_BYTES), StandardCharsets.UTF_8))) {
      return BufferedGroupFile.read(lines, file);
    } catch (EOFException | ZipException damaged) {
      throw new IOException("%s is damaged: %s".formatted(file, damaged.getMessage()), damaged);
    }
  }

  /** Stores the groups of a step; one thread calls it. */
  public void write(long step, List<ScoredGroup> groups) {
    folder.ifPresent(into -> write(into, step, groups));
  }

  private void write(Path into, long step, List<ScoredGroup> groups) {
    Path file = file(into, step);
    try {
      try (Writer lines = compressed(file)) {
        BufferedGroupFile.write(lines, groups);
      }
      long bytes = Files.size(file);
      Long former = sizes.put(step, bytes);
      total += bytes - (former == null ? 0 : former);
      dropOldest(into);
    } catch (IOException failure) {
      if (!reported) {
        reported = true;
        report.accept(
            DiskFailureException.explain("store the tokens of a step", file, failure).getMessage()
                + "; training continues, and the replay of this step is not possible");
      }
    }
  }

  private static Writer compressed(Path file) throws IOException {
    OutputStream out = Files.newOutputStream(file);
    return new OutputStreamWriter(new FastGzip(out), StandardCharsets.UTF_8);
  }

  private void dropOldest(Path from) throws IOException {
    while (keepBytes > 0 && total > keepBytes && sizes.size() > 1) {
      Files.deleteIfExists(file(from, sizes.firstKey()));
      total -= sizes.pollFirstEntry().getValue();
    }
  }

  /** Half of the bits of a log-probability are noise, so that a better effort saves nothing. */
  private static final class FastGzip extends GZIPOutputStream {
    FastGzip(OutputStream out) throws IOException {
      super(out, BUFFER_BYTES);
      def.setLevel(Deflater.BEST_SPEED);
    }
  }
}
