package io.troupe.cluster.ranks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.troupe.cluster.HostPort;
import io.troupe.cluster.link.Endpoint;
import io.troupe.cluster.secret.RunSecret;
import io.troupe.cluster.tls.CertificateAuthority;
import io.troupe.engine.TrainingEngine;
import io.troupe.engine.toy.ToyPolicy;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ranks as nodes start them, over TLS, each in a thread, against the trainer of one thread. */
final class NodeRanksTest {
  private static final RunSecret SECRET = RunSecret.random();
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final int STEPS = 5;

  @TempDir private static Path keys;

  private final List<String> notes = new CopyOnWriteArrayList<>();
  private final List<Thread> started = new ArrayList<>();

  private static Endpoint endpoint() throws IOException {
    return new Endpoint.Tls(
        CertificateAuthority.init(keys.resolve("ours"), "troupe")
            .issue("hosts", List.of("127.0.0.1", "127.0.0.2", "127.0.0.3"), 90)
            .context());
  }

  /** A rank of a node, which works until it is interrupted. */
  private Thread rank(int number, Endpoint endpoint, HostPort head) {
    RankPost post =
        new RankPost(
            new RankHost.Self(
                number,
                "node" + number,
                "t" + number,
                endpoint,
                "127.0.0." + (2 + number),
                SECRET,
                LONG),
            new ToyPolicy(ToySteps.POLICY).newRank(1));
    post.goTo(head);
    Thread thread =
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  try {
                    post.work();
                  } catch (InterruptedException ended) {
                    Thread.currentThread().interrupt();
                  }
                });
    started.add(thread);
    return thread;
  }

  @AfterEach
  void end() throws InterruptedException {
    for (Thread thread : started) {
      thread.interrupt();
      thread.join();
    }
  }

  private static List<Float> alone() {
    try (TrainingEngine trainer = new ToyPolicy(ToySteps.POLICY).newTrainer(3)) {
      trainer.freezeReference();
      for (int step = 0; step < STEPS; step++) {
        ToySteps.make(trainer, step);
      }
      return ToySteps.weights(trainer);
    }
  }

  /** Two ranks, then one, then two again. */
  @Test
  void train_aNodeLostAndBack_goesOnWithTheOthersAndIsTheTrainerOfOneThread() throws Exception {
    Endpoint endpoint = endpoint();
    NodeRanks.Patience patience = new NodeRanks.Patience(Duration.ofMillis(300), LONG);
    try (RankHall hall = RankHall.open(2, endpoint, new HostPort("127.0.0.1", 0), SECRET);
        TrainingEngine trainer =
            new ToyPolicy(ToySteps.POLICY)
                .by(() -> new NodeRanks(hall, patience, notes::add))
                .newTrainer(3)) {
      trainer.freezeReference();
      rank(0, endpoint, hall.address());
      Thread lost = rank(1, endpoint, hall.address());
      assertThat(hall.await(LONG)).hasSize(2);
      ToySteps.make(trainer, 0);
      ToySteps.make(trainer, 1);

      lost.interrupt();
      hall.left("node1");
      lost.join();
      ToySteps.make(trainer, 2);
      assertThat(notes).anyMatch(note -> note.startsWith("1 of 2 trainer ranks begin"));

      rank(1, endpoint, hall.address());
      assertThat(hall.await(LONG)).hasSize(2);
      ToySteps.make(trainer, 3);
      ToySteps.make(trainer, 4);

      List<Float> whole = alone();
      List<Float> weights = ToySteps.weights(trainer);
      for (int i = 0; i < whole.size(); i++) {
        assertThat(weights.get(i)).isCloseTo(whole.get(i), within(1e-5f));
      }
    }
    assertThat(notes)
        .filteredOn(note -> note.contains("trainer ranks begin"))
        .extracting(note -> note.substring(0, note.indexOf(':')))
        .containsExactly(
            "all trainer ranks begin",
            "1 of 2 trainer ranks begin, and the others when they come",
            "all trainer ranks begin");
    assertThat(notes)
        .anyMatch(
            note ->
                note.startsWith("the step is abandoned and made again: trainer rank 1 is lost: ")
                    && note.contains("t1 on node node1 is gone"));
  }

  @Test
  void train_nobodyComes_isGivenUpAndSaysWhatToDo() throws Exception {
    Duration brief = Duration.ofMillis(50);
    try (RankHall hall =
            RankHall.open(2, Endpoint.onLoopback(), new HostPort("127.0.0.1", 0), SECRET);
        TrainingEngine trainer =
            new ToyPolicy(ToySteps.POLICY)
                .by(() -> new NodeRanks(hall, new NodeRanks.Patience(brief, brief), notes::add))
                .newTrainer(3)) {
      trainer.freezeReference();
      assertThatThrownBy(() -> ToySteps.make(trainer, 0))
          .hasMessageContaining("no trainer rank came within")
          .hasMessageContaining("then resume the run");
      assertThat(notes).anyMatch(note -> note.startsWith("waits for trainer rank 0, 1: "));
    }
  }

  @Test
  void open_addressBeyondLoopbackWithoutKeys_isRefused() {
    assertThatThrownBy(
            () -> RankHall.open(1, Endpoint.onLoopback(), new HostPort("0.0.0.0", 0), SECRET))
        .hasMessageContaining("set cluster.tls, or pass --allow-plain-tcp");
  }
}
