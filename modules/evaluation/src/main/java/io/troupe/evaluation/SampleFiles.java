package io.troupe.evaluation;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonGenerator;
import io.troupe.core.reward.Verdict;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * The two growing files of an evaluation, to which all lines of a prompt are added at once. A
 * process that dies may leave prompts whose lines are in one file alone, or in part; the next one
 * removes them.
 */
final class SampleFiles implements Closeable {
  private static final long FLUSH_NANOS = 1_000_000_000;

  private final JsonGenerator completions;
  private final JsonGenerator results;
  private long flushedAt = System.nanoTime();

  private SampleFiles(JsonGenerator completions, JsonGenerator results) {
    this.completions = completions;
    this.results = results;
  }

  /** Length of both files after a number of whole prompts. */
  private record Kept(int prompts, long completions, long results) {}

  /** Opened files, and how many prompts are in them already. */
  record Recovered(SampleFiles files, int prompts) {}

  /**
   * Opens the files after the last whole prompt that both hold, and removes what comes after it.
   *
   * @param heads beginnings of the lines of each sample, in order, one list a prompt
   * @throws IOException if the files hold other samples
   */
  static Recovered open(EvaluationFolder folder, Iterable<List<String>> heads) throws IOException {
    Kept kept = kept(folder, heads);
    return new Recovered(
        new SampleFiles(
            cut(folder.completions(), kept.completions()), cut(folder.results(), kept.results())),
        kept.prompts());
  }

  private static JsonGenerator cut(Path file, long length) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      channel.truncate(length);
    }
    return EvaluationLines.writer(
        new BufferedOutputStream(Files.newOutputStream(file, StandardOpenOption.APPEND), 1 << 16));
  }

  private static Kept kept(EvaluationFolder folder, Iterable<List<String>> heads)
      throws IOException {
    Kept kept = new Kept(0, 0, 0);
    if (!Files.exists(folder.completions()) || !Files.exists(folder.results())) {
      return kept;
    }
    try (WholeLines completions = new WholeLines(folder.completions());
        WholeLines results = new WholeLines(folder.results())) {
      for (List<String> prompt : heads) {
        if (!completions.skip(prompt) || !results.skip(prompt)) {
          return kept;
        }
        kept = new Kept(kept.prompts() + 1, completions.length, results.length);
      }
    }
    return kept;
  }

  /** Lines of a file that end in a line feed. */
  private static final class WholeLines implements Closeable {
    private final Path file;
    private final InputStream in;
    private long length;
    private long number;

    WholeLines(Path file) throws IOException {
      this.file = file;
      this.in = new BufferedInputStream(Files.newInputStream(file), 1 << 16);
    }

    /** Whether the next lines are whole and begin so. */
    boolean skip(List<String> heads) throws IOException {
      for (String head : heads) {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        int next = in.read();
        while (next >= 0 && next != '\n') {
          line.write(next);
          next = in.read();
        }
        if (next < 0) {
          return false;
        }
        number++;
        length += line.size() + 1;
        if (!line.toString(UTF_8).startsWith(head)) {
          throw new IOException(
              "%s line %d is not the sample that this evaluation makes there (%s…); it was changed, so evaluate again in a new folder"
                  .formatted(file, number, head));
        }
      }
      return true;
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }

  /** Adds the lines of a prompt's next sample. */
  void add(EvaluationLines lines, EvaluationItem item, int sample, Answer answer, Verdict verdict)
      throws IOException {
    lines.completion(completions, item, sample, answer);
    lines.result(results, item, sample, verdict);
  }

  /** Hands the lines to the files, unless that was done within the last second. */
  void flush() throws IOException {
    if (System.nanoTime() - flushedAt >= FLUSH_NANOS) {
      completions.flush();
      results.flush();
      flushedAt = System.nanoTime();
    }
  }

  @Override
  public void close() throws IOException {
    try (completions;
        results) {
      completions.flush();
      results.flush();
    }
  }
}
