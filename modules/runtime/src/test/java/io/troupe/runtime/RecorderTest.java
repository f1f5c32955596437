package io.troupe.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import akka.actor.testkit.typed.javadsl.ActorTestKit;
import akka.actor.typed.ActorRef;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.Verdict;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Event;
import io.troupe.core.run.group.LeaseEndReason;
import io.troupe.core.trace.LineBacklog;
import io.troupe.core.weights.WeightVersion;
import io.troupe.runtime.prompt.Toys;
import io.troupe.store.file.JsonLinesFile;
import io.troupe.testkit.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The traces while their disk stalls, and afterwards. */
final class RecorderTest {
  private static final LineBacklog.Limits LIMITS = new LineBacklog.Limits(400, 1 << 20);
  private static final int GROUPS = 500;
  private static final WorkerId WORKER = WorkerId.at("rollout-1", "0123abcd");

  @AutoClose("shutdownTestKit")
  private final ActorTestKit actors = Toys.actors();

  private final Map<String, JsonLinesFile> files = new HashMap<>();
  private final List<LineBacklog> refusals = new CopyOnWriteArrayList<>();
  private final List<String> reports = new CopyOnWriteArrayList<>();
  private final Path folder;

  RecorderTest(@TempDir Path folder) throws IOException {
    this.folder = folder;
    for (String name : TraceFiles.NAMES) {
      files.put(
          name, JsonLinesFile.open(folder.resolve(name + ".jsonl"), Duration.ZERO, reports::add));
    }
  }

  private List<JsonNode> lines(String name) throws IOException {
    ObjectMapper json = new ObjectMapper();
    return Files.readAllLines(folder.resolve(name + ".jsonl")).stream()
        .map(
            line -> {
              try {
                return json.readTree(line);
              } catch (IOException broken) {
                throw new AssertionError(line, broken);
              }
            })
        .toList();
  }

  private static Recorder.Judged judged(int group) {
    return new Recorder.Judged(
        Toys.lease(group, group),
        new Prompt(new PromptId("p"), "s", "1+1=", "2", ""),
        List.of("x".repeat(10_000)),
        List.of(new Verdict.Scored(1, "2", "equal")),
        List.of());
  }

  @Test
  void record_diskStallsThenHeals_boundsMemoryCountsLinesAndKeepsTheSumsOfEvents()
      throws Exception {
    TraceFiles traces = TraceFiles.over(files, Toys.pool(), LIMITS, () -> 1_500, reports::add);
    ActorRef<Recorder.Command> recorder =
        actors.spawn(Recorder.create(traces, _ -> {}, refusals::add), "recorder");
    JsonLinesFile stalled = Objects.requireNonNull(files.get("rollouts"));
    synchronized (stalled) { // As a write that does not return holds it.
      for (int group = 1; group <= GROUPS; group++) {
        WeightVersion version = WeightVersion.BASE;
        for (Event event :
            List.<Event>of(
                new Event.LeaseGranted(Toys.lease(group, group), WORKER, version, 0),
                new Event.LeaseEnded(
                    Toys.lease(group, group), LeaseEndReason.WORKER_LOST, "", true))) {
          recorder.tell(new Recorder.Happened(event, version));
        }
        recorder.tell(judged(group));
      }
      // Nothing of what was refused keeps the recorder from its next message.
      Await.until(() -> !refusals.isEmpty() && refusals.getLast().refused() >= 3 * GROUPS);
      assertThat(refusals)
          .allMatch(LineBacklog::full)
          .allMatch(backlog -> backlog.lines() <= LIMITS.lines())
          .allMatch(backlog -> backlog.bytes() <= LIMITS.bytes());
    }
    Await.until(() -> !refusals.getLast().full());
    long refused = refusals.getLast().refused();
    assertThat(refusals).filteredOn(backlog -> !backlog.full()).hasSize(1);

    recorder.tell(judged(GROUPS + 1));
    recorder.tell(
        new Recorder.Happened(new Event.GroupFailed(new GroupId(9), "odd"), WeightVersion.BASE));
    // The last line of all, in the order of the messages.
    Await.until(() -> lines("samples").getLast().path("event").asText().equals("failed"));
    assertThat(lines("rollouts").getLast().path("group").asInt()).isEqualTo(GROUPS + 1);
    assertThat(sum("worker_lost")).isEqualTo(GROUPS);
    assertThat(sum("leased")).isZero();
    assertThat(sum("failed")).isEqualTo(1);
    int written = lines("trace").size() + lines("samples").size() + lines("rollouts").size();
    assertThat(written + refused).isEqualTo(5L * GROUPS + 3);
    assertThat(reports).isEmpty();
  }

  private long sum(String name) throws IOException {
    return lines("trace").stream().mapToLong(line -> line.path(name).asLong()).sum();
  }
}
