package io.troupe.cli.torch;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.cli.doctor.CheckLines;
import io.troupe.cli.doctor.CheckResult;
import io.troupe.cli.doctor.MachineChecks;
import io.troupe.engine.djl.GoldenStep;
import io.troupe.engine.djl.GoldenStepProcess;
import io.troupe.engine.djl.install.BindingCache;
import io.troupe.engine.djl.install.CudaDevices;
import io.troupe.engine.djl.install.InstalledTorch;
import io.troupe.engine.djl.install.TorchBinding;
import io.troupe.engine.djl.install.UnusableTorchException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe torch doctor}: whether runs work with an installed PyTorch. */
@Command(
    name = "doctor",
    description = {
      "Checks an installed PyTorch: its binding, a training step in a process of its own, the GPUs"
          + " that the CUDA runtime counts, and NCCL. Each line says what to do next.",
      "Exit code 0 if runs work with it, 1 if a line says fail."
    })
final class TorchDoctorCommand extends CliCommand {
  @Mixin private TorchPlace place = new TorchPlace();

  @Option(names = "--json", description = "One JSON object instead of text.")
  private boolean json;

  @Override
  public Integer call() throws IOException {
    InstalledTorch torch = place.chosen();
    List<CheckResult> findings = findings(torch, BindingCache.here());
    PrintWriter out = out();
    CheckLines.print(findings, json, out);
    return (MachineChecks.sound(findings) ? ExitCode.OK : ExitCode.INCOMPLETE).code();
  }

  private static List<CheckResult> findings(InstalledTorch torch, BindingCache cache)
      throws IOException {
    List<CheckResult> findings = new ArrayList<>();
    findings.add(CheckResult.ok("pytorch", torch.toString()));
    TorchBinding binding = cache.find(torch);
    String next = TorchDescription.next(torch, binding);
    String state = TorchDescription.state(binding);
    if (next.isEmpty()) {
      findings.add(CheckResult.ok("binding", state));
      findings.add(step(torch, cache));
    } else {
      findings.add(CheckResult.fail("binding", state, next));
    }
    findings.add(gpus(torch));
    findings.add(nccl(torch));
    return findings;
  }

  private static CheckResult step(InstalledTorch torch, BindingCache cache) throws IOException {
    try {
      GoldenStep step =
          GoldenStepProcess.over(torch, Objects.requireNonNull(cache.root().getParent()));
      return CheckResult.ok(
          "golden step",
          "PyTorch %s loads; its training steps differ from the known ones by %.1e"
              .formatted(step.torch(), step.distance()));
    } catch (UnusableTorchException unfit) {
      return CheckResult.fail(
          "golden step",
          String.valueOf(unfit.getMessage()),
          BindingCache.build(torch) + " --again");
    }
  }

  private static CheckResult gpus(InstalledTorch torch) throws IOException {
    if (torch.cuda().isEmpty()) {
      return CheckResult.ok("gpus", "none: this PyTorch is for CPUs");
    }
    Optional<Path> runtime = torch.cudaRuntime();
    if (runtime.isEmpty()) {
      return CheckResult.fail(
          "gpus",
          "no CUDA runtime (libcudart.so) in the environment of " + torch.folder(),
          "install PyTorch again with its dependencies");
    }
    CudaDevices seen = CudaDevices.of(runtime.get());
    if (seen.devices().isEmpty()) {
      return CheckResult.warn(
          "gpus",
          "0 by %s%s"
              .formatted(runtime.get(), seen.refusal().isEmpty() ? "" : ": " + seen.refusal()),
          "runs compute on the CPU; check nvidia-smi and CUDA_VISIBLE_DEVICES");
    }
    return CheckResult.ok("gpus", "%d by %s".formatted(seen.devices().size(), runtime.get()));
  }

  private static CheckResult nccl(InstalledTorch torch) throws IOException {
    Optional<Path> nccl = torch.nccl();
    if (nccl.isPresent()) {
      return CheckResult.ok("nccl", nccl.get().toString());
    }
    return torch.cuda().isEmpty()
        ? CheckResult.ok("nccl", "none: this PyTorch is for CPUs")
        : CheckResult.warn(
            "nccl",
            "no libnccl.so.2 in the environment of " + torch.folder(),
            "install nvidia-nccl for this CUDA, or train on one GPU");
  }
}
