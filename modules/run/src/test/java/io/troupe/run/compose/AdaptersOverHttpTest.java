package io.troupe.run.compose;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.core.completion.Completion;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.CharacterTokenizer;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.model.DecoderSettings;
import io.troupe.engine.djl.model.Tuning;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.train.TrainingMode;
import io.troupe.engine.djl.train.TrainingMode.Activations;
import io.troupe.engine.http.client.InferenceClient;
import io.troupe.engine.http.client.InferenceEndpoint;
import io.troupe.engine.http.fleet.FleetSampler;
import io.troupe.engine.http.fleet.ServerSupervisor;
import io.troupe.engine.http.probe.CapabilityProbe;
import io.troupe.engine.http.probe.LocalPolicy;
import io.troupe.engine.http.probe.PublishedWeightForm;
import io.troupe.engine.http.probe.ServerRequirements;
import io.troupe.engine.http.protocol.RetryPolicy;
import io.troupe.engine.http.replica.ServerWeightFolder;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.protocol.WeightTag;
import io.troupe.engine.safetensors.PeftFolder;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.serve.PolicyServer;
import io.troupe.serve.ServeSettings;
import io.troupe.serve.model.AdapterCapacity;
import io.troupe.serve.model.ServedModel;
import io.troupe.testkit.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Adapters of a real policy, over HTTP to a real server, against what the engine draws merged. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class AdaptersOverHttpTest {
  private static final int CONTEXT = 48;
  private static final int SEED = 21;
  private static final CharacterTokenizer TOKENIZER = new CharacterTokenizer("0123456789+=");
  private static final DjlPolicy POLICY =
      DjlPolicy.create(
          new DecoderSettings(8, 2, 4, 2, 4, 12, CONTEXT, 10_000, 1e-6, true, .5),
          TOKENIZER,
          ComputeSettings.of(1, 1, 1 << 12));
  private static final OptimizerSettings ADAM = new OptimizerSettings(.05, .9, .99, 1e-8, 0, 0);
  private static final List<WeightSnapshot> VERSIONS = new CopyOnWriteArrayList<>();
  private static final SamplingEngine MERGED = POLICY.newSampler();
  private static WeightSnapshot base;
  private static WeightSnapshot other;

  @TempDir private Path folder;

  /** Three versions of a policy whose adapters are trained, the first of them before any step. */
  @BeforeAll
  static void train() {
    DjlPolicy adapted =
        POLICY.trained(
            new TrainingMode(
                new Tuning.LowRank(2, 4, List.of(Tuning.Target.values())), Activations.KEPT));
    try (TrainingEngine full = POLICY.newTrainer(SEED);
        TrainingEngine foreign = POLICY.newTrainer(SEED + 1);
        TrainingEngine trainer = adapted.newTrainer(SEED)) {
      base = full.snapshot(WeightVersion.BASE);
      other = foreign.snapshot(WeightVersion.BASE);
      for (long version = 0; version < 3; version++) {
        VERSIONS.add(trainer.snapshot(new WeightVersion(version)));
        for (int step = 0; step < 5; step++) {
          trainer.trainSupervised(
              List.of(
                  TestSequences.of(TOKENIZER, "1+2=", "3"),
                  TestSequences.of(TOKENIZER, "4+5=", "09")),
              ADAM);
        }
      }
    }
    adapted.close();
  }

  @AfterAll
  static void close() {
    MERGED.close();
    POLICY.close();
  }

  private static PolicyServer serve(SamplingEngine engine, int room, WeightSnapshot weights)
      throws IOException {
    return serve(engine, new AdapterCapacity(room, POLICY::newSampler), weights);
  }

  private static PolicyServer serve(
      SamplingEngine engine, AdapterCapacity room, WeightSnapshot weights) throws IOException {
    PolicyServer server =
        PolicyServer.start(
            ServedModel.completing(
                "policy", engine, TOKENIZER, CONTEXT, ServedModel.withoutScorer()),
            room,
            ServeSettings.loopback(0),
            "test");
    server.use(weights, "checkpoint");
    return server;
  }

  private static InferenceEndpoint at(PolicyServer server) {
    return InferenceEndpoint.of("http://127.0.0.1:" + server.port(), 64);
  }

  private FleetSampler fleet(CompletableFuture<String> broken) throws IOException {
    return new FleetSampler(
        LocalPolicy.of(POLICY, false, OptionalDouble.empty()),
        ServerWeightFolder.open(
            new ServerWeightFolder.Contents(PublishedWeightForm.ADAPTERS, 3),
            folder.resolve("servers"),
            _ -> {},
            ServerWeightFolder.WeightFileFinder.none()),
        new RetryPolicy(50, Duration.ofMillis(1), Duration.ofMillis(50)),
        ServerSupervisor.listening(broken::complete));
  }

  private static List<Completion> draw(SamplingEngine engine, long group) throws Exception {
    return Await.value(
        engine
            .sample(
                List.of(
                    new SampleRequest(
                        new LeaseId(new GroupId(group), 1),
                        TOKENIZER.encode("1+" + group % 10 + "="),
                        4,
                        new SamplingSettings(1, 16),
                        group)))
            .getFirst());
  }

  /**
   * Golden: what is drawn with the adapters alone is what the merged weights draw. The one place
   * there is has to be made free for each version.
   */
  @Test
  void sample_adaptersAlone_isWhatTheMergedWeightsDraw() throws Exception {
    CompletableFuture<String> broken = new CompletableFuture<>();
    try (SamplingEngine engine = POLICY.newSampler();
        PolicyServer server = serve(engine, 1, base);
        FleetSampler fleet = fleet(broken)) {
      fleet.join("a", at(server));
      for (WeightSnapshot version : VERSIONS) {
        Await.value(fleet.load(version));
        Await.value(MERGED.load(version));
        for (long group = 1; group <= 5; group++) {
          List<Completion> alone = draw(fleet, group);
          List<Completion> merged = draw(MERGED, group);
          for (int i = 0; i < merged.size(); i++) {
            assertThat(alone.get(i).tokens()).isEqualTo(merged.get(i).tokens());
            assertThat(alone.get(i).versions()).isEqualTo(merged.get(i).versions());
            for (int t = 0; t < merged.get(i).length(); t++) {
              assertThat(alone.get(i).logProbs()[t])
                  .isCloseTo(merged.get(i).logProbs()[t], within(1e-4f));
            }
          }
        }
      }
      assertThat(broken).isNotDone();
      assertThat(fleet.report()).contains("updates=3 ").contains("refused=none");
    }
  }

  /** The one place there is has an adapter of a sampler that was closed. */
  @Test
  void load_afterAnEarlierSampler_takesThePlaceThatThatHasLeft() throws Exception {
    CompletableFuture<String> broken = new CompletableFuture<>();
    try (SamplingEngine engine = POLICY.newSampler();
        PolicyServer server = serve(engine, 1, base);
        InferenceClient wire = new InferenceClient(at(server))) {
      for (WeightSnapshot version : VERSIONS) {
        try (FleetSampler fleet = fleet(broken)) {
          fleet.join("a", at(server));
          Await.value(fleet.load(version));
        }
        assertThat(names(wire))
            .containsExactly(
                "policy", WeightTag.of(version.version(), version.digest()).toString());
      }
      assertThat(broken).isNotDone();
    }
  }

  /** An adapter with the same shapes over another checkpoint is loaded, and gets no work. */
  @Test
  void load_adaptersOverAnotherBase_areRefused() throws Exception {
    CompletableFuture<String> broken = new CompletableFuture<>();
    try (SamplingEngine engine = POLICY.newSampler();
        PolicyServer server = serve(engine, 2, other);
        InferenceClient wire = new InferenceClient(at(server));
        FleetSampler fleet = fleet(broken)) {
      fleet.join("a", at(server));
      CompletionStage<WeightVersion> load = fleet.load(VERSIONS.getLast());
      assertThat(Await.value(broken)).isEqualTo("a");
      assertThat(load.toCompletableFuture()).isNotDone();
      assertThat(fleet.report()).contains("ready=0 ").contains("updates=0 ");
      WeightSnapshot newest = VERSIONS.getLast();
      assertThat(names(wire))
          .as("it was loaded, and refused for what it draws")
          .contains(WeightTag.of(newest.version(), newest.digest()).toString());
    }
  }

  @Test
  void loadAdapter_moreThanThereIsRoomFor_isRefusedAndNoneGoesByItself() throws Exception {
    try (SamplingEngine engine = POLICY.newSampler();
        PolicyServer server = serve(engine, 1, base);
        InferenceClient wire = new InferenceClient(at(server))) {
      assertThat(load(wire, "one", VERSIONS.get(1)).status()).isEqualTo(200);
      assertThat(load(wire, "one", VERSIONS.get(1)).body()).contains("is loaded already");
      assertThat(load(wire, "two", VERSIONS.get(2)).body())
          .contains("there is room for 1 adapters, and [one] are loaded");
      assertThat(names(wire)).containsExactly("policy", "one");
      assertThat(post(wire, "/update_weights_from_disk", "model_path", folder.toString()).body())
          .contains("the adapters [one] are of the weights in use; unload them first");
      assertThat(post(wire, "/v1/unload_lora_adapter", "lora_name", "two").status()).isEqualTo(404);
      assertThat(post(wire, "/v1/unload_lora_adapter", "lora_name", "one").status()).isEqualTo(200);
      assertThat(load(wire, "two", VERSIONS.get(2)).status()).isEqualTo(200);
      assertThat(post(wire, "/v1/completions", "model", "one").body())
          .contains("the model `one` does not exist");
    }
  }

  @Test
  void loadAdapter_ofOtherShapesOrKinds_saysWhatDoesNotFit() throws Exception {
    try (SamplingEngine engine = POLICY.newSampler();
        PolicyServer server = serve(engine, 2, base);
        InferenceClient wire = new InferenceClient(at(server))) {
      Path strange = write("strange", VERSIONS.get(1));
      Path config = strange.resolve(PeftFolder.CONFIG);
      Files.writeString(config, Files.readString(config).replace("\"r\" : 2", "\"r\" : 3"));
      assertThat(load(wire, "strange", strange).body()).contains("and rank 3 do not fit model.");
      Files.writeString(config, Files.readString(config).replace("LORA", "IA3"));
      assertThat(load(wire, "strange", strange).body())
          .contains("peft_type is IA3, and adapters are read with LORA alone");
      Files.writeString(
          config,
          Files.readString(config)
              .replace("IA3", "LORA")
              .replace("\"r\" : 3", "\"r\" : 2, \"rank_pattern\" : {\"q_proj\" : 4}"));
      assertThat(load(wire, "strange", strange).body())
          .contains("rank_pattern is {\\\"q_proj\\\":4}, and adapters are read without it");
      Files.writeString(
          config,
          Files.readString(config)
              .replace("{\"q_proj\" : 4}", "{ }")
              .replace("\"init_lora_weights\" : true", "\"init_lora_weights\" : \"pissa\""));
      assertThat(load(wire, "strange", strange).body())
          .contains("init_lora_weights is pissa, whose adapters lie over a base that it changed");
      assertThat(load(wire, "absent", folder.resolve("absent")).status()).isEqualTo(400);
      assertThat(names(wire)).containsExactly("policy");
    }
  }

  @Test
  void loadAdapter_engineCannotBeMade_isAnsweredWithTheReason() throws Exception {
    AdapterCapacity full =
        new AdapterCapacity(
            1,
            () -> {
              throw new IllegalStateException("out of memory");
            });
    try (SamplingEngine engine = POLICY.newSampler();
        PolicyServer server = serve(engine, full, base);
        InferenceClient wire = new InferenceClient(at(server))) {
      InferenceClient.Response answer = load(wire, "one", VERSIONS.get(1));
      assertThat(answer.status()).isEqualTo(500);
      assertThat(answer.body()).contains("out of memory");
      assertThat(load(wire, "one", VERSIONS.get(1)).body())
          .as("its name is free again")
          .contains("out of memory");
    }
  }

  @Test
  void probe_serverWithoutRoom_offersNoAdapters() throws Exception {
    try (SamplingEngine engine = POLICY.newSampler();
        PolicyServer server = serve(engine, 0, base);
        InferenceClient wire = new InferenceClient(at(server))) {
      assertThat(
              CapabilityProbe.probe(wire)
                  .objections(
                      new ServerRequirements(PublishedWeightForm.ADAPTERS, false, 1, false)))
          .singleElement()
          .asString()
          .contains("start it with --max-adapters");
      assertThat(load(wire, "one", VERSIONS.get(1)).status()).isEqualTo(404);
    }
  }

  private Path write(String name, WeightSnapshot weights) throws IOException {
    Path directory = Files.createDirectories(folder.resolve(name));
    PeftFolder.write(directory, weights.adapter());
    return directory;
  }

  private InferenceClient.Response load(InferenceClient wire, String name, WeightSnapshot weights)
      throws Exception {
    String unique = WeightTag.of(weights.version(), weights.digest()).toString();
    Path directory = folder.resolve(unique);
    return load(wire, name, Files.exists(directory) ? directory : write(unique, weights));
  }

  private static InferenceClient.Response load(InferenceClient wire, String name, Path directory)
      throws Exception {
    return wire.post(
        "/v1/load_lora_adapter",
        JsonFields.object().put("lora_name", name).put("lora_path", directory.toString()),
        Duration.ofSeconds(60));
  }

  private static InferenceClient.Response post(
      InferenceClient wire, String route, String field, String value) throws Exception {
    ObjectNode body = JsonFields.object().put(field, value);
    if (route.endsWith("/completions")) {
      body.put("prompt", "1+2=");
    }
    return wire.post(route, body, Duration.ofSeconds(60));
  }

  private static List<String> names(InferenceClient wire) throws Exception {
    return wire.get("/v1/models", Duration.ofSeconds(60))
        .json()
        .path("data")
        .findValuesAsText("id");
  }
}
