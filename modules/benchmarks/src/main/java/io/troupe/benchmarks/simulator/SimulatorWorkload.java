package io.troupe.benchmarks.simulator;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * A policy and completions of known lengths: each prompt limits its completions, and a policy with
 * random weights seldom ends one before. Nothing is learned, so lengths stay as they are.
 */
record SimulatorWorkload(Engine engine, Lengths lengths) {
  private static final int PROMPTS = 2_000;
  private static final int PROMPT_CHARACTERS = 12;
  private static final int MOST_TOKENS = 96;
  private static final String ALPHABET =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

  /** The engines that sample and train. */
  enum Engine {
    TOY("engine: toy, context_length: 128, token_delay: 3ms"),
    DJL(
        "engine: djl, context_length: 128, hidden: 96, layers: 2, heads: 4, kv_heads: 4,"
            + " head_dim: 24, feed_forward: 192");

    private final String policy;

    Engine(String policy) {
      this.policy = policy;
    }
  }

  /** The distribution of the limits of prompts. */
  enum Lengths {
    UNIFORM,
    LOG_NORMAL;

    private static final int LEAST = 8;
    private static final int MOST = 56;
    private static final double MEDIAN = 20;
    private static final double SIGMA = 0.8;

    int draw(Random random) {
      return switch (this) {
        case UNIFORM -> LEAST + random.nextInt(MOST - LEAST + 1);
        case LOG_NORMAL ->
            Math.clamp(
                Math.round(MEDIAN * Math.exp(SIGMA * random.nextGaussian())), 1, MOST_TOKENS);
      };
    }
  }

  static List<SimulatorWorkload> all() {
    List<SimulatorWorkload> all = new ArrayList<>();
    for (Engine engine : Engine.values()) {
      for (Lengths lengths : Lengths.values()) {
        all.add(new SimulatorWorkload(engine, lengths));
      }
    }
    return all;
  }

  String label() {
    return (engine + "-" + lengths).toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Writes prompts and configuration into a folder, and names the configuration. */
  Path write(Path folder) throws IOException {
    Path rows = folder.resolve(label() + ".jsonl");
    Files.writeString(rows, rows());
    Path file = folder.resolve(label() + ".yaml");
    Files.writeString(
        file,
        """
        task: {name: jsonl, file: %s, verifier: text, held_out_share: 0.01}
        policy: {%s}
        rollout:
          completions_per_prompt: 4
          max_tokens: %d
          max_concurrent_groups: 32
          groups_per_request: 4
        training:
          steps: 100
          groups_per_step: 8
          learning_rate: 1e-9
          filter_degenerate: false
        recording: {traces: -1}
        """
            .formatted(rows.getFileName(), engine.policy, MOST_TOKENS));
    return file;
  }

  private String rows() {
    Random random = new Random(1);
    StringBuilder rows = new StringBuilder();
    for (int i = 0; i < PROMPTS; i++) {
      StringBuilder prompt = new StringBuilder();
      for (int c = 0; c < PROMPT_CHARACTERS; c++) {
        prompt.append(ALPHABET.charAt(random.nextInt(ALPHABET.length())));
      }
      rows.append(
          "{\"id\": \"%d\", \"prompt\": \"%s\", \"answer\": \"%c\", \"max_completion_tokens\": %d}\n"
              .formatted(i, prompt, prompt.charAt(0), lengths.draw(random)));
    }
    return rows.toString();
  }
}
