package io.troupe.benchmarks.gpu.work;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.base.files.FileTree;
import io.troupe.benchmarks.engine.NeverEndingWeights;
import io.troupe.benchmarks.engine.TrainCase;
import io.troupe.benchmarks.gpu.row.GpuMeasurement;
import io.troupe.benchmarks.gpu.row.GpuMeasurement.Bar;
import io.troupe.benchmarks.gpu.row.GpuRow;
import io.troupe.benchmarks.gpu.row.GpuSetting;
import io.troupe.benchmarks.gpu.row.GpuWork;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.GoldenStep;
import io.troupe.engine.djl.GoldenStepProcess;
import io.troupe.engine.djl.install.BindingBuild;
import io.troupe.engine.djl.install.BindingCache;
import io.troupe.engine.djl.install.BindingSources;
import io.troupe.engine.djl.install.BuildTools;
import io.troupe.engine.djl.install.InstalledTorch;
import io.troupe.engine.djl.install.TorchBinding;
import io.troupe.engine.djl.install.TorchSearch;
import io.troupe.engine.djl.torch.Device;
import io.troupe.engine.djl.torch.Precision;
import io.troupe.engine.train.StepOutcome;
import io.troupe.engine.train.TrainingEngine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * The binding's build, and whether the device computes what the CPU does: known steps in float32
 * and bfloat16, and the losses and norms of the same step in plain PyTorch.
 */
record BindingWork() implements GpuWork {
  private static final int STEPS = 3;
  private static final Bar BUILD = Bar.atMost(90);
  private static final Bar FLOAT32 = Bar.atMost(1e-4);
  private static final Bar BFLOAT16 = Bar.atMost(1e-2);
  private static final Bar SAME = Bar.atMost(1e-3);
  private static final double SMALL = 1e-3;

  @Override
  public Outcome measure(GpuSetting setting) throws IOException, InterruptedException {
    List<GpuMeasurement> found = new ArrayList<>();
    List<String> notes = new ArrayList<>();
    build(setting, found, notes);
    GoldenStep exact = GoldenStep.compute(setting.device(), Precision.FLOAT32);
    found.add(
        row("known steps in float32, largest relative distance", "", exact.distance(), FLOAT32));
    GoldenStep rounded = GoldenStep.compute(setting.device(), Precision.BFLOAT16);
    GoldenStep there = GoldenStep.compute(Device.host(), Precision.BFLOAT16);
    found.add(
        row(
            "losses in bfloat16, largest distance from the CPU's",
            "",
            distance(rounded.losses(), there.losses(), 1),
            BFLOAT16));
    found.add(
        row(
            "norms in bfloat16, largest distance from the CPU's",
            "",
            distance(rounded.norms(), there.norms(), 1),
            Bar.NONE));
    found.add(
        row(
            "norms in bfloat16, the CPU's largest distance from float32",
            "",
            distance(there.norms(), exact.norms(), 1),
            Bar.NONE));
    same(setting, found, notes);
    return new Outcome(found, notes);
  }

  private static GpuMeasurement row(String name, String unit, double value, Bar bar) {
    return new GpuMeasurement(GpuRow.G1, name, unit, value, OptionalDouble.empty(), bar);
  }

  /** The largest distance of two lists, relative where the second has more than a floor. */
  private static double distance(List<Double> ours, List<Double> theirs, double floor) {
    double most = 0;
    for (int i = 0; i < ours.size(); i++) {
      double apart = Math.abs(ours.get(i) - theirs.get(i));
      most = Math.max(most, apart / Math.max(floor, Math.abs(theirs.get(i))));
    }
    return most;
  }

  private static void build(GpuSetting setting, List<GpuMeasurement> found, List<String> notes)
      throws IOException {
    if (setting.torch().isEmpty()) {
      notes.add("the build was not measured: DJL's own PyTorch needs none");
      return;
    }
    InstalledTorch torch = TorchSearch.at(setting.torch());
    TorchBinding present = BindingCache.here().find(torch);
    if (present instanceof TorchBinding.Bundled) {
      notes.add("the build was not measured: %s needs none".formatted(torch));
      return;
    }
    if (setting.sources().isEmpty()) {
      notes.add("the build was not measured: name DJL's sources by --sources FILE");
      return;
    }
    Path scratch = Files.createTempDirectory("troupe-binding");
    try {
      long start = System.nanoTime();
      new BindingBuild(
              torch,
              present instanceof TorchBinding.Built
                  ? new BindingCache(scratch)
                  : BindingCache.here(), // the other rows need it
              BindingSources.published(),
              BuildTools.of(System.getenv()),
              Runtime.getRuntime().availableProcessors(),
              step -> System.err.println("  " + step))
          .build(Path.of(setting.sources()), true, cache -> GoldenStepProcess.over(torch, cache));
      double seconds = (System.nanoTime() - start) / 1e9;
      String name =
          "the binding built and checked, %d cores"
              .formatted(Runtime.getRuntime().availableProcessors());
      found.add(row(name, "s", seconds, BUILD));
    } finally {
      FileTree.delete(scratch);
    }
  }

  private static void same(GpuSetting setting, List<GpuMeasurement> found, List<String> notes)
      throws IOException, InterruptedException {
    TrainCase given = TrainCase.TINY;
    DjlPolicy policy = given.policy(1, Precision.FLOAT32, setting.device());
    Path weights = Files.createTempFile("troupe-first", ".safetensors");
    try (GpuPython python = GpuPython.start(setting)) {
      if (!python.present()) {
        notes.add(python.describe());
        return;
      }
      List<Double> ours = new ArrayList<>();
      try (TrainingEngine trainer = policy.newTrainer(TrainCase.SEED)) {
        NeverEndingWeights.write(trainer.snapshot(WeightVersion.BASE), weights);
        for (int step = 0; step < STEPS; step++) {
          switch (trainer.train(given.batch(), TrainCase.LOSS, TrainCase.OPTIMISATION)) {
            case StepOutcome.Stepped stepped ->
                ours.addAll(List.of(stepped.loss(), stepped.gradientNorm()));
            case StepOutcome.Skipped(var reason) -> throw new IOException("skipped: " + reason);
          }
        }
      }
      Map<String, Object> arguments = new LinkedHashMap<>(given.json());
      arguments.put("weights", weights.toString());
      arguments.put("sizes", given.sizes());
      arguments.put("steps", STEPS);
      JsonNode answer = python.call("same", arguments);
      List<Double> theirs = new ArrayList<>();
      for (int step = 0; step < STEPS; step++) {
        theirs.add(answer.required("losses").get(step).asDouble());
        theirs.add(answer.required("norms").get(step).asDouble());
      }
      found.add(
          row(
              "steps beside plain PyTorch, largest relative distance",
              "",
              distance(ours, theirs, SMALL),
              SAME));
    } finally {
      Files.delete(weights);
      policy.close();
    }
  }
}
