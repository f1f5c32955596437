package io.troupe.run.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.chat.Thinking;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.ScoringEngine;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.checkpoint.PretrainedModel;
import io.troupe.engine.djl.checkpoint.TeacherCheckpoint;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.safetensors.DType;
import io.troupe.engine.safetensors.ModelFiles;
import io.troupe.engine.safetensors.StoredTensor;
import io.troupe.run.evaluation.EvaluatedPolicy;
import io.troupe.serve.model.ServedWeights;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * One rule for surplus and missing tensors at every entry of a checkpoint: training, a teacher, an
 * evaluation, a server's start and update, an export.
 */
final class CheckpointEntriesTest {
  private static final Path SAVED =
      Path.of("../engine-djl/src/test/resources/io/troupe/engine/djl/saved");
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String EMBEDDING = "model.embed_tokens.weight";
  private static final ComputeSettings COMPUTE = ComputeSettings.of(1, 1, 1 << 14);

  @TempDir private Path folder;

  /** An entry of a checkpoint. */
  private enum Entry {
    TRAINING {
      @Override
      void take(Path checkpoint) throws IOException {
        try (PolicyEngines engines = DjlPolicy.create(PretrainedModel.open(checkpoint), COMPUTE)) {
          engines.newTrainer(0).close();
        }
      }
    },
    TEACHER {
      @Override
      void take(Path checkpoint) throws IOException {
        TeacherCheckpoint.open(checkpoint);
      }
    },
    EVALUATION {
      @Override
      void take(Path checkpoint) throws IOException {
        EvaluatedPolicy policy = EvaluatedPolicy.ofCheckpoint(checkpoint, 32, 1, Thinking.AUTO);
        try (PolicyEngines engines = policy.engines();
            SamplingEngine sampler = engines.newSampler()) {
          sampler.load(policy.weights().getFirst()).toCompletableFuture().join();
        }
      }
    },
    SERVER {
      @Override
      void take(Path checkpoint) throws IOException {
        served(checkpoint, checkpoint);
      }
    },
    UPDATE_FROM_DISK {
      @Override
      void take(Path checkpoint) throws IOException {
        served(SAVED.resolve(family(checkpoint)), checkpoint);
      }
    },
    EXPORT {
      @Override
      void take(Path checkpoint) throws IOException {
        Path target = checkpoint.resolveSibling(checkpoint.getFileName() + "-export");
        WeightsExport.write(checkpoint, target, DType.BF16);
        PretrainedModel.open(target);
      }
    };

    abstract void take(Path checkpoint) throws IOException;

    private static String family(Path checkpoint) {
      return checkpoint.getFileName().toString().replaceFirst("-.*", "");
    }

    private static void served(Path model, Path weights) throws IOException {
      try (PolicyEngines engines = DjlPolicy.create(PretrainedModel.open(model), COMPUTE);
          SamplingEngine sampler = engines.newSampler();
          ScoringEngine scorer = engines.newScorer()) {
        ServedWeights served = new ServedWeights(sampler, scorer, false, false);
        assertThat(served.load(weights, "")).startsWith("0-");
      }
    }
  }

  /** A change of a checkpoint, and the words of its refusal; none where it is taken. */
  private enum Variant {
    AS_SAVED("", false) {
      @Override
      void change(List<StoredTensor> tensors) {}
    },
    EQUAL_OUTPUT("", true) {
      @Override
      void change(List<StoredTensor> tensors) {
        tensors.add(find(tensors, EMBEDDING).named("lm_head.weight"));
      }
    },
    ROTARY_TABLES("", false) {
      @Override
      void change(List<StoredTensor> tensors) {
        StoredTensor some = find(tensors, "model.norm.weight");
        tensors.add(some.named("model.layers.0.self_attn.rotary_emb.inv_freq"));
        tensors.add(some.named("model.rotary_emb.inv_freq"));
      }
    },
    OTHER_OUTPUT(
        "lm_head.weight with other values|set tie_word_embeddings to false|or remove that tensor",
        true) {
      @Override
      void change(List<StoredTensor> tensors) {
        StoredTensor gate = find(tensors, EMBEDDING);
        tensors.add(
            new StoredTensor(
                "lm_head.weight",
                gate.dtype(),
                gate.shape(),
                Arena.ofAuto().allocate(gate.data().byteSize())));
      }
    },
    UNKNOWN("model.layers.0.extra.weight", false) {
      @Override
      void change(List<StoredTensor> tensors) {
        tensors.add(find(tensors, "model.norm.weight").named("model.layers.0.extra.weight"));
      }
    },
    MISSING("model.norm.weight", false) {
      @Override
      void change(List<StoredTensor> tensors) {
        tensors.removeIf(tensor -> tensor.name().equals("model.norm.weight"));
      }
    };

    private final String refusal; // its words, with bars between them
    private final boolean tiedOnly;

    Variant(String refusal, boolean tiedOnly) {
      this.refusal = refusal;
      this.tiedOnly = tiedOnly;
    }

    abstract void change(List<StoredTensor> tensors);

    static StoredTensor find(List<StoredTensor> tensors, String name) {
      return tensors.stream().filter(each -> each.name().equals(name)).findFirst().orElseThrow();
    }
  }

  @TestFactory
  Stream<DynamicTest> take_surplusOrMissingTensors_isOneRuleEverywhere() {
    return Stream.of("qwen3", "qwen2", "llama")
        .flatMap(
            family ->
                Stream.of(Variant.values())
                    .filter(variant -> !variant.tiedOnly || !family.equals("qwen2"))
                    .flatMap(
                        variant ->
                            Stream.of(Entry.values())
                                .map(
                                    entry ->
                                        DynamicTest.dynamicTest(
                                            "%s %s %s".formatted(family, variant, entry),
                                            () -> check(family, variant, entry)))));
  }

  private void check(String family, Variant variant, Entry entry) throws IOException {
    Path checkpoint =
        Files.createDirectory(folder.resolve("%s-%s-%s".formatted(family, variant, entry)));
    copy(SAVED.resolve(family), checkpoint, name -> !name.contains(".safetensors"));
    try (Arena arena = Arena.ofConfined()) {
      List<StoredTensor> tensors =
          new ArrayList<>(
              new TreeMap<>(ModelFiles.map(SAVED.resolve(family), arena).tensors()).values());
      variant.change(tensors);
      ModelFiles.write(checkpoint, tensors, ModelFiles.DEFAULT_SHARD_BYTES);
    }
    if (variant.refusal.isEmpty()) {
      entry.take(checkpoint);
    } else {
      assertThatThrownBy(() -> entry.take(checkpoint))
          .isInstanceOf(IOException.class)
          .message()
          .contains(variant.refusal.split("\\|"));
    }
  }

  /** A teacher and an untied policy have the rule for weights of which one would have no effect. */
  @TestFactory
  Stream<DynamicTest> take_untiedModelWhoseConfigurationSaysTied_isRefusedEverywhere() {
    return Stream.of(Entry.values())
        .filter(entry -> entry != Entry.UPDATE_FROM_DISK)
        .map(
            entry ->
                DynamicTest.dynamicTest(
                    entry.name(),
                    () -> {
                      Path checkpoint = Files.createDirectory(folder.resolve("tied-" + entry));
                      copy(SAVED.resolve("qwen2"), checkpoint, _ -> true);
                      Path file = checkpoint.resolve("config.json");
                      ObjectNode config = (ObjectNode) JSON.readTree(file.toFile());
                      JSON.writeValue(file.toFile(), config.put("tie_word_embeddings", true));
                      assertThatThrownBy(() -> entry.take(checkpoint))
                          .isInstanceOf(IOException.class)
                          .message()
                          .contains(Variant.OTHER_OUTPUT.refusal.split("\\|"));
                    }));
  }

  private static void copy(Path from, Path to, Predicate<String> taken) throws IOException {
    try (Stream<Path> files = Files.list(from)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        String name = file.getFileName().toString();
        if (taken.test(name)) {
          Files.copy(file, to.resolve(name));
        }
      }
    }
  }
}
