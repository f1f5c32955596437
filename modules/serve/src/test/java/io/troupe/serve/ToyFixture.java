package io.troupe.serve;

import io.troupe.core.loss.TeacherTokens;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.ScoringEngine;
import io.troupe.engine.safetensors.ModelFiles;
import io.troupe.engine.safetensors.StoredTensor;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.engine.toy.ToySettings;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.gateway.dialog.PlainConversation;
import io.troupe.serve.model.ServedModel;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** A toy policy behind a server of ours. */
public final class ToyFixture implements AutoCloseable {
  public static final String KEY = "sesame";

  private final HttpClient client = HttpClient.newHttpClient();
  public final ToyPolicy policy;
  public final WatchedEngine engine;
  public final PolicyServer server;

  private ToyFixture(ToyPolicy policy, WatchedEngine engine, PolicyServer server) {
    this.policy = policy;
    this.engine = engine;
    this.server = server;
  }

  public static ToyPolicy policy(Duration tokenDelay) {
    return new ToyPolicy(ToySettings.of("0123456789+= abc", 64).withTokenDelay(tokenDelay));
  }

  /** With the weights of version 0 in use. */
  public static ToyFixture loaded(Duration tokenDelay, ServeSettings settings) throws IOException {
    ToyFixture fixture = empty(tokenDelay, settings);
    fixture.server.use(weights(fixture.policy, 0));
    return fixture;
  }

  /** With a scorer to whom a token with id i has log-probability -i, and 7 and 8 are likely. */
  public static ToyFixture scoring() throws IOException {
    ToyFixture fixture =
        with(
            Duration.ZERO,
            ServeSettings.loopback(0),
            new ScoringEngine() {
              @Override
              public void load(WeightSnapshot weights) {}

              @Override
              public Scores score(int[] tokens, int topK) {
                int[][] ids = new int[tokens.length - 1][topK];
                float[][] logProbs = new float[tokens.length - 1][topK];
                double[] own = new double[tokens.length - 1];
                for (int i = 0; i < own.length; i++) {
                  own[i] = -tokens[i + 1];
                  for (int k = 0; k < topK; k++) {
                    ids[i][k] = 7 + k;
                    logProbs[i][k] = -1 - k;
                  }
                }
                return new Scores(own, new TeacherTokens(ids, logProbs));
              }

              @Override
              public void close() {}
            });
    fixture.server.use(weights(fixture.policy, 0));
    return fixture;
  }

  public static ToyFixture empty(Duration tokenDelay, ServeSettings settings) throws IOException {
    return with(tokenDelay, settings, ServedModel.withoutScorer());
  }

  private static ToyFixture with(Duration tokenDelay, ServeSettings settings, ScoringEngine scorer)
      throws IOException {
    ToyPolicy policy = policy(tokenDelay);
    WatchedEngine engine = new WatchedEngine(policy.newSampler());
    ServedModel served =
        new ServedModel(
            "policy",
            engine,
            policy.tokenizer(),
            policy.contextLength(),
            new PlainConversation(policy.tokenizer()),
            scorer);
    return new ToyFixture(policy, engine, PolicyServer.start(served, settings, "test"));
  }

  public static ToyFixture loaded(Duration tokenDelay) throws IOException {
    return loaded(tokenDelay, ServeSettings.loopback(0));
  }

  /** Weights that differ from version to version. */
  public static WeightSnapshot weights(ToyPolicy policy, long version) {
    try (TrainingEngine trainer = policy.newTrainer(version + 1)) {
      return trainer.snapshot(new WeightVersion(version));
    }
  }

  public static Path write(WeightSnapshot snapshot, Path parent) throws IOException {
    Path directory = Files.createDirectories(parent.resolve(snapshot.version().toString()));
    ModelFiles.write(
        directory,
        snapshot.tensors().stream().map(StoredTensor::of).toList(),
        ModelFiles.DEFAULT_SHARD_BYTES);
    return directory;
  }

  public String base() {
    return "http://127.0.0.1:" + server.port();
  }

  public HttpResponse<String> post(String path, String body)
      throws IOException, InterruptedException {
    return client.send(posting(path, body), HttpResponse.BodyHandlers.ofString());
  }

  /** Sends a request whose answer is read as it comes. */
  public HttpResponse<InputStream> open(String path, String body)
      throws IOException, InterruptedException {
    return client.send(posting(path, body), HttpResponse.BodyHandlers.ofInputStream());
  }

  private HttpRequest posting(String path, String body) {
    return HttpRequest.newBuilder(URI.create(base() + path))
        .header("Authorization", "Bearer " + KEY)
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build();
  }

  public HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return client.send(
        HttpRequest.newBuilder(URI.create(base() + path)).build(),
        HttpResponse.BodyHandlers.ofString());
  }

  @Override
  public void close() {
    server.close();
    engine.close();
    client.close();
    policy.close();
  }
}
