package io.troupe.run.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.base.net.HostPort;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.engine.toy.ToySettings;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.link.ListenAddress;
import io.troupe.runtime.evaluation.EvaluatedWeights;
import io.troupe.runtime.evaluation.UnfitWeightsException;
import io.troupe.runtime.weights.PublishedWeights;
import io.troupe.serve.model.ServedWeights;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckpointWeightsTest {
  private static final WeightVersion VERSION = new WeightVersion(7);

  @TempDir private Path folder;
  private EvaluatedWeights stored;

  @BeforeEach
  void checkpoint() throws IOException {
    Path policy = Files.createDirectory(folder.resolve("policy"));
    try (TrainingEngine trainer = new ToyPolicy(ToySettings.of("+0123=", 8)).newTrainer(1)) {
      trainer.save(policy);
    }
    stored = evaluated(ServedWeights.read(policy, VERSION).digest());
  }

  private EvaluatedWeights evaluated(String digest) {
    return new EvaluatedWeights(
        "r", new PublishedWeights(VERSION, digest, folder.resolve("policy").toString()));
  }

  private static ListenAddress loopback() {
    return new ListenAddress(new HostPort("127.0.0.1", 0), ConnectionFactory.onLoopback());
  }

  private WeightSnapshot fetch(EvaluatedWeights wanted) {
    return new CheckpointWeights("a-w1", folder.resolve("disk"), loopback())
        .fetch(wanted)
        .toCompletableFuture()
        .orTimeout(60, TimeUnit.SECONDS)
        .join();
  }

  @Test
  void fetch_folderIsSeen_readsIt() throws IOException {
    WeightSnapshot fetched = fetch(stored);

    assertThat(fetched.version()).isEqualTo(VERSION);
    assertThat(fetched.digest()).isEqualTo(stored.weights().digest());
  }

  @Test
  void fetch_folderIsNotSeen_fetchesTheSameNumbersFromTheServer() throws IOException {
    Path copy = folder.resolve("copy");
    try (CheckpointServer server = CheckpointServer.open(copy, stored, loopback())) {
      WeightSnapshot read = fetch(stored);
      Files.move(folder.resolve("policy"), folder.resolve("elsewhere"));

      WeightSnapshot fetched = fetch(server.weights());

      assertThat(fetched.version()).isEqualTo(VERSION);
      assertThat(fetched.digest()).isEqualTo(stored.weights().digest());
      assertThat(fetched.tensors()).hasSameSizeAs(read.tensors());
      for (int i = 0; i < read.tensors().size(); i++) {
        assertThat(fetched.tensors().get(i).name()).isEqualTo(read.tensors().get(i).name());
        assertThat(fetched.tensors().get(i).data().mismatch(read.tensors().get(i).data()))
            .isEqualTo(-1);
      }
    }
    assertThat(copy).doesNotExist();
    assertThat(folder.resolve("disk")).doesNotExist();
  }

  @Test
  void fetch_folderIsNotSeenAndNobodyServes_isUnfit() throws IOException {
    Files.move(folder.resolve("policy"), folder.resolve("elsewhere"));

    assertThatThrownBy(() -> fetch(stored))
        .hasCauseInstanceOf(UnfitWeightsException.class)
        .hasMessageContaining(folder.resolve("policy") + " is not there");
  }

  @Test
  void fetch_otherTensorsUnderThatName_isUnfit() {
    assertThatThrownBy(() -> fetch(evaluated("0".repeat(64))))
        .hasCauseInstanceOf(UnfitWeightsException.class)
        .hasMessageContaining("have digest " + stored.weights().digest());
  }

  /** A log or a message of a failure shows what was asked for. */
  @Test
  void weights_asText_holdNoSecret() throws IOException {
    try (CheckpointServer server =
        CheckpointServer.open(folder.resolve("copy"), stored, loopback())) {
      assertThat(server.weights().toString()).doesNotContain(server.weights().secret());
    }
  }
}
