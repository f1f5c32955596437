package io.troupe.tracking;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.outage.Backoff;
import io.troupe.core.run.RunEnd;
import io.troupe.tracking.feed.RunFeed;
import io.troupe.tracking.wandb.WandbLogReader;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs in the files of TensorBoard and of Weights and Biases, over several processes. */
final class FileTrackersTest {
  @TempDir private Path temporary;

  private static void send(WrittenRun run, TrackerKind kind) throws Exception {
    TrackingSettings settings =
        new TrackingSettings(
            List.of(kind),
            "troupe",
            URI.create(""),
            URI.create(""),
            new RunFeed.Tables(4, 3),
            Duration.ZERO,
            Duration.ofSeconds(30),
            Duration.ofSeconds(1));
    List<String> said = new ArrayList<>();
    try (RunTracking tracking =
        RunTracking.start(
                run.folder(),
                settings,
                Map.of("training.steps", "9"),
                Map.of(),
                false,
                new TrackingClock(Duration.ofMillis(5), new Backoff(5, 20)),
                said::add)
            .orElseThrow()) {
      tracking.finish(Duration.ofSeconds(30));
      assertThat(said).isEmpty();
      assertThat(tracking.status().getFirst().complete()).isTrue();
    }
  }

  private static List<Path> files(Path folder, String part) throws IOException {
    try (var found = Files.walk(folder)) {
      return found
          .filter(file -> String.valueOf(file.getFileName()).contains(part))
          .filter(Files::isRegularFile)
          .sorted()
          .toList();
    }
  }

  /** The steps of events that hold a text, over all files. */
  private static List<Long> steps(Path folder, String text) throws IOException {
    List<Long> steps = new ArrayList<>();
    for (Path file : files(folder, "tfevents")) {
      ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
      while (bytes.hasRemaining()) {
        byte[] event = new byte[(int) bytes.getLong()];
        bytes.getInt();
        bytes.get(event);
        bytes.getInt();
        if (new String(event, US_ASCII).contains(text)) {
          steps.add((long) event[10]); // Behind the wall time, a varint of one byte.
        }
      }
    }
    return steps;
  }

  @Test
  void tensorBoard_processDiesBehindItsCursor_eachStepIsThereOnce() throws Exception {
    WrittenRun run = WrittenRun.in(temporary).steps(0, 5);
    send(run, TrackerKind.TENSORBOARD);
    Path folder = run.folder().path().resolve("tensorboard");
    Path first = files(folder, "tfevents").getFirst();
    Files.write(first, "torn".getBytes(US_ASCII), StandardOpenOption.APPEND);
    run.steps(6, 9);
    send(run, TrackerKind.TENSORBOARD);
    send(run, TrackerKind.TENSORBOARD);
    assertThat(files(folder, "tfevents")).hasSize(2);
    assertThat(steps(folder, "train/reward"))
        .isEqualTo(LongStream.rangeClosed(0, 9).boxed().toList());
    assertThat(steps(folder, "rollouts")).containsExactly(4L, 8L);
    assertThat(steps(folder, "training.steps: 9")).containsExactly(0L);
  }

  @Test
  void wandb_runContinuesAfterItsEndWasUploaded_isOneFileWithOneEnd() throws Exception {
    WrittenRun run = WrittenRun.in(temporary).steps(0, 5);
    run.end(new RunEnd.Interrupted(), WrittenRun.atMillis(6));
    send(run, TrackerKind.WANDB);
    Path folder = run.folder().path().resolve("wandb");
    Path file = files(folder, ".wandb").getFirst();
    assertThat(WandbLogReader.fields(file)).endsWith(3, 18);
    Path mark = Path.of(file + ".synced");
    Files.writeString(mark, "");
    send(run, TrackerKind.WANDB);
    assertThat(mark).as("nothing is new").exists();

    run.steps(6, 9).end(new RunEnd.Completed(), WrittenRun.atMillis(10));
    send(run, TrackerKind.WANDB);
    assertThat(mark).doesNotExist();
    assertThat(WandbLogReader.fields(file))
        .containsExactly(
            21, 17, 2, 2, 2, 2, 2, 6, 2, 2, 2, 2, 6, 2, 3, 18); // header, run, rows, files, end
    String history = String.join("\n", WandbLogReader.texts(file));
    assertThat(history).contains("\"_type\":\"table-file\"").contains("0.140625");
    assertThat(files(folder, ".table.json"))
        .hasSize(2)
        .allSatisfy(
            table -> assertThat(table).content().contains("\"columns\":[\"step\",\"group\""));
  }
}
