package io.troupe.cli.verify;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.core.reward.EpisodeText;
import io.troupe.core.reward.JudgedBy;
import io.troupe.core.reward.PassMark;
import io.troupe.core.reward.Verdict;
import io.troupe.verifiers.pool.TimedVerdict;
import io.troupe.verifiers.pool.VerifierService;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * Judges a file: many completions at a time, verdicts in the order of the lines, and no more lines
 * in memory than the window holds.
 */
public final class FileVerification {
  private static final Set<String> INSTRUCTIONS =
      Set.of("ifeval", "ifbench", "if-multi", "rlvr-ifeval");
  private static final int WINDOW_PER_WORKER = 64;
  private static final long PROGRESS_NANOS = 2_000_000_000L;

  private record Open(
      ObjectNode head, String file, long line, CompletableFuture<TimedVerdict> judgement) {
    String id() {
      return head.path("id").asText();
    }
  }

  private final String verifier;
  private final JudgedBy judgedBy;
  private final VerifierService service;
  private final int window;
  private final CompletionText completions;
  private final PassMark mark;
  private final Consumer<String> report;
  private VerifySummary summary = VerifySummary.NONE;
  private long reportedAt = System.nanoTime();

  /**
   * Creates the verification of one file.
   *
   * @param judgedBy what the verifier reads of a line
   * @param mark by which a completion passes
   * @param report takes bad lines and progress, a sentence at a time
   */
  public FileVerification(
      String verifier,
      JudgedBy judgedBy,
      VerifierService service,
      int workers,
      CompletionText completions,
      PassMark mark,
      Consumer<String> report) {
    this.verifier = verifier;
    this.judgedBy = judgedBy;
    this.completions = completions;
    this.mark = mark;
    this.service = service;
    this.window = workers * WINDOW_PER_WORKER;
    this.report = report;
  }

  /**
   * Judges all lines of the input.
   *
   * @param output a file, which appears when all is done (until then what is done is in {@code
   *     FILE.partial}), or {@code -}
   * @throws IOException if a file cannot be read or written
   */
  public VerifySummary verify(List<LineFile> input, String output) throws IOException {
    if (output.equals("-")) {
      BufferedWriter out = new BufferedWriter(new OutputStreamWriter(System.out, UTF_8));
      verify(input, out);
      flush(out);
      return summary;
    }
    Path target = Path.of(output).toAbsolutePath();
    Path folder = target.getParent();
    if (folder == null || Files.isDirectory(target)) {
      throw new IOException("the output %s is a folder; name a file".formatted(target));
    }
    if (!Files.isDirectory(folder)) {
      throw new IOException(
          "the output %s needs the folder %s, which does not exist".formatted(target, folder));
    }
    Path partial = folder.resolve(target.getFileName() + ".partial");
    BufferedWriter file;
    try {
      file = Files.newBufferedWriter(partial);
    } catch (IOException refused) {
      throw new IOException(
          "the output %s cannot be made (%s); name a file in a folder you may write to"
              .formatted(partial, refused.getClass().getSimpleName()),
          refused);
    }
    try (BufferedWriter out = file) {
      verify(input, out);
    } catch (IOException failure) {
      throw new IOException(
          "cannot continue %s: %s; what was done so far is in %s"
              .formatted(target, failure.getMessage(), partial),
          failure);
    }
    Files.move(partial, target, StandardCopyOption.REPLACE_EXISTING);
    return summary;
  }

  private void verify(List<LineFile> input, BufferedWriter out) throws IOException {
    Deque<Open> open = new ArrayDeque<>();
    for (LineFile file : input) {
      try (LineFile.Reader lines = file.open()) {
        for (Optional<byte[]> line = lines.next(); line.isPresent(); line = lines.next()) {
          for (InputLine read : read(file.name(), lines.number(), line.get())) {
            open.add(start(file.name(), lines.number(), read));
            if (open.size() >= window) {
              write(open.remove(), out);
            }
          }
        }
      }
    }
    while (!open.isEmpty()) {
      write(open.remove(), out);
    }
  }

  private List<InputLine> read(String file, long number, byte[] line) {
    if (isBlank(line)) {
      return List.of();
    }
    try {
      if (line.length > LineFile.LONGEST) {
        throw new InputLine.BadLineException(
            "is longer than %,d MiB".formatted(LineFile.LONGEST >> 20));
      }
      return InputLine.read(line, verifier, judgedBy);
    } catch (InputLine.BadLineException bad) {
      summary = summary.badLine();
      report.accept("error: %s line %d %s".formatted(file, number, bad.getMessage()));
      return List.of();
    }
  }

  private Open start(String file, long number, InputLine read) {
    String completion = completions.cut(read.completion());
    if (completions.written()) {
      read.head().put("completion", completion);
    }
    CompletableFuture<TimedVerdict> judgement =
        read.flaw().isEmpty()
            ? service
                .judge(read.prompt(), EpisodeText.of(completion, read.thoughtOpen()))
                .toCompletableFuture()
            : CompletableFuture.completedFuture(
                new TimedVerdict(
                    new Verdict.Unverifiable(Verdict.Cause.BAD_INPUT, read.flaw()), 0));
    return new Open(read.head(), file, number, judgement);
  }

  private void write(Open next, BufferedWriter out) throws IOException {
    TimedVerdict judged = next.judgement().join();
    Verdict verdict = judged.verdict().by(mark);
    switch (verdict) {
      case Verdict.Scored scored -> summary = summary.scored(scored.reward(), scored.passed());
      case Verdict.Unverifiable(Verdict.Cause _, String reason) -> {
        summary = summary.unverified();
        report.accept(
            "error: %s line %d (id %s) could not be judged: %s"
                .formatted(next.file(), next.line(), next.id(), reason));
      }
    }
    out.write(
        new OutputLine(next.head(), verdict, judged.millis())
            .text(INSTRUCTIONS.contains(verifier)));
    out.write('\n');
    if (System.nanoTime() - reportedAt >= PROGRESS_NANOS) {
      reportedAt = System.nanoTime();
      flush(out);
      report.accept("line %,d: %s".formatted(next.line(), summary.text()));
    }
  }

  /** Writes all lines; fails when the pipe is closed, which a print stream does not show. */
  private static void flush(BufferedWriter out) throws IOException {
    out.flush();
    if (System.out.checkError()) {
      throw new IOException("the standard output cannot be written to; its reader is gone");
    }
  }

  private static boolean isBlank(byte[] line) {
    for (byte b : line) {
      if (b != ' ' && b != '\t' && b != '\r') {
        return false;
      }
    }
    return true;
  }
}
