package io.troupe.run.compose;

import io.troupe.base.hash.Sha256;
import io.troupe.config.RunConfig;
import io.troupe.config.policy.PolicySection;
import io.troupe.config.rollout.VerifierSection;
import io.troupe.core.prompt.DataRow;
import io.troupe.core.prompt.Prompt;
import io.troupe.engine.Tokenizer;
import io.troupe.run.model.ModelCache;
import io.troupe.run.task.SupervisedData;
import io.troupe.verifiers.VerifierSpec;
import io.troupe.verifiers.pool.VerifierServices;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The digests of files that a run reads from the disks of each host: the configuration travels, the
 * files it names do not. The digests are over what was read, and not over the files, so that the
 * same prompts in another place, or in a cache of the host's own, are the same.
 */
public final class InputDigests {
  private static final String DATA = "data";
  private static final String TOKENIZER = "tokenizer";
  private static final String MODEL = "model";
  private static final String BASE = "base";
  private static final String SERVED = "served";
  private static final String VERIFIERS = "verifiers";
  private static final String LOSS = "loss";
  private static final int SHOWN_DIGITS = 12;

  private static final Map<String, String> NEXT_STEP =
      Map.of(
          DATA, "the files that `task`, `data` and `supervised` name must be the coordinator's",
          TOKENIZER, "the tokenizer of `policy.checkpoint` must be the coordinator's",
          MODEL, "the config.json of `policy.checkpoint` must be the coordinator's",
          BASE, "the tensors of `policy.checkpoint` must be the coordinator's",
          LOSS, "the jar of `loss.jar` must be the coordinator's",
          SERVED, "the tensors of `rollout.sidecars.model` must be the coordinator's",
          VERIFIERS,
              "the jars of `verifier.plugins`, and the files that the options `run` of command"
                  + " verifiers name by absolute paths, must be the coordinator's");

  private InputDigests() {}

  /**
   * The digests of a run's inputs, as this host has them; each presumes those before it. A
   * checkpoint that is not on this host has none: weights come from the coordinator, and a resumed
   * run has a checkpoint of its own.
   *
   * @throws IOException if a file cannot be read
   */
  public static Map<String, String> of(Composition composition) throws IOException {
    RunConfig config = composition.config();
    Map<String, String> digests = new LinkedHashMap<>();
    digests.put(DATA, data(composition));
    digests.put(TOKENIZER, tokenizer(composition));
    digests.put(MODEL, model(composition.start()));
    digests.put(VERIFIERS, verifiers(composition));
    for (Path jar : config.loss().jar()) {
      digests.put(LOSS, Files.isReadable(jar) ? Sha256.hex(Files.readAllBytes(jar)) : "absent");
    }
    if (config.policy() instanceof PolicySection.Pretrained pretrained) {
      putTensors(
          digests,
          BASE,
          ModelCache.of(config.data(), _ -> {}).cachedFolder(pretrained.checkpoint()));
    }
    String served = config.rollout().sidecars().model();
    if (config.rollout().sidecars().count() > 0 && !served.isEmpty()) {
      putTensors(digests, SERVED, Path.of(served));
    }
    return digests;
  }

  private static void putTensors(Map<String, String> digests, String what, Path directory)
      throws IOException {
    if (Files.isDirectory(directory)) {
      MessageDigest sha = Sha256.digest();
      for (Path file : CheckpointFingerprint.tensors(directory)) {
        add(sha, String.valueOf(file.getFileName()));
        CheckpointFingerprint.read(file, bytes -> add(sha, bytes));
      }
      digests.put(what, Sha256.hex(sha));
    }
  }

  /**
   * Returns the digest of the verifiers' files, beside this build: jars, and files of their
   * commands.
   */
  private static String verifiers(Composition composition) throws IOException {
    VerifierSection section = composition.config().verifier();
    MessageDigest sha = Sha256.digest();
    for (Path plugin : section.plugins()) {
      add(sha, Files.readAllBytes(plugin));
    }
    List<String> commands =
        Stream.concat(
                composition.verifiers().values().stream().map(VerifierSpec::options),
                section.rewards().stream().map(VerifierSection.Reward::optionsByName))
            .flatMap(options -> Optional.ofNullable(options.get(VerifierServices.RUN)).stream())
            .toList();
    for (String command : commands) {
      add(sha, command);
      for (Path file : VerifierServices.files(command)) {
        add(sha, Files.readAllBytes(file));
      }
    }
    return Sha256.hex(sha);
  }

  /**
   * Compares what this host has with what the coordinator has.
   *
   * @param run name of the run
   * @param coordinator digests by input
   * @param here the run, composed on this host
   * @throws IOException if they differ; says in what, and what to do
   */
  public static void check(String run, Map<String, String> coordinator, Composition here)
      throws IOException {
    for (Map.Entry<String, String> own : of(here).entrySet()) {
      String what = own.getKey();
      String wanted = coordinator.getOrDefault(what, own.getValue());
      if (!own.getValue().equals(wanted)) {
        throw new IOException(
            "%s of run %s is not the coordinator's on this host (digest %s there, %s here): %s, under the same path"
                .formatted(
                    what,
                    run,
                    shown(wanted),
                    shown(own.getValue()),
                    Objects.requireNonNull(NEXT_STEP.get(what))));
      }
    }
  }

  private static String shown(String digest) {
    return digest.substring(0, Math.min(SHOWN_DIGITS, digest.length()));
  }

  private static String data(Composition composition) {
    MessageDigest sha = Sha256.digest();
    for (List<Prompt> part : List.of(composition.task().train(), composition.task().heldOut())) {
      add(sha, Integer.toString(part.size()));
      for (Prompt prompt : part) {
        add(sha, prompt.id().value());
        add(sha, prompt.source());
        add(sha, prompt.text());
        add(sha, prompt.answer());
        add(sha, prompt.solution());
        if (!prompt.row().equals(DataRow.NONE)) {
          add(sha, prompt.row().json());
        }
      }
    }
    if (!composition.task().imitated().isEmpty()) {
      add(sha, SupervisedData.digest(composition.task().imitated()));
    }
    return Sha256.hex(sha);
  }

  /** Every id's bytes, the ids that end, and how the run's own prompts are encoded. */
  private static String tokenizer(Composition composition) {
    Tokenizer tokenizer = composition.tokenizer();
    MessageDigest sha = Sha256.digest();
    for (int id = 0; id < tokenizer.vocabularySize(); id++) {
      add(sha, tokenizer.bytes(id));
    }
    tokenizer.endIds().stream().sorted().forEach(id -> add(sha, Integer.toString(id)));
    Stream.concat(composition.task().train().stream(), composition.task().heldOut().stream())
        .map(prompt -> tokenizer.encodeWithSpecial(prompt.text()))
        .forEach(
            ids -> {
              ByteBuffer bytes = ByteBuffer.allocate(ids.length * Integer.BYTES);
              bytes.asIntBuffer().put(ids);
              add(sha, bytes.array());
            });
    return Sha256.hex(sha);
  }

  /** The architecture: weights come from the coordinator in any case. */
  private static String model(Composition.Start start) {
    MessageDigest sha = Sha256.digest();
    switch (start) {
      case Composition.Start.Fresh() -> add(sha, "fresh");
      case Composition.Start.Stored(var checkpoint) -> add(sha, checkpoint.settings().toString());
    }
    return Sha256.hex(sha);
  }

  private static void add(MessageDigest sha, String text) {
    add(sha, text.getBytes(StandardCharsets.UTF_8));
  }

  /** With its length before it, so that no two lists of texts look alike. */
  private static void add(MessageDigest sha, byte[] bytes) {
    sha.update(ByteBuffer.allocate(Integer.BYTES).putInt(0, bytes.length));
    sha.update(bytes);
  }
}
