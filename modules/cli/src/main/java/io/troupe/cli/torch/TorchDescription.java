package io.troupe.cli.torch;

import io.troupe.engine.djl.install.BindingCache;
import io.troupe.engine.djl.install.InstalledTorch;
import io.troupe.engine.djl.install.TorchBinding;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** The description of an installed PyTorch that the commands print. */
final class TorchDescription {
  private TorchDescription() {}

  static Map<String, Object> json(String how, InstalledTorch torch, BindingCache cache)
      throws IOException {
    TorchBinding binding = cache.find(torch);
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("found_by", how);
    json.put("folder", torch.folder().toString());
    json.put("version", torch.version());
    json.put("cuda", torch.cuda());
    json.put("nccl", torch.nccl().map(Path::toString).orElse(""));
    json.put("binding", state(binding));
    json.put("next", next(torch, binding));
    return json;
  }

  static String state(TorchBinding binding) {
    return switch (binding) {
      case TorchBinding.Bundled() -> "DJL's own";
      case TorchBinding.Built _ -> "built";
      case TorchBinding.Absent() -> "not built";
      case TorchBinding.Outdated(String torch) -> "outdated: built for " + torch;
      case TorchBinding.Broken(Path folder, String reason) -> "broken: " + folder + ": " + reason;
    };
  }

  /** The next command; empty if the PyTorch can be used. */
  static String next(InstalledTorch torch, TorchBinding binding) {
    return switch (binding) {
      case TorchBinding.Bundled _, TorchBinding.Built _ -> "";
      case TorchBinding.Absent _, TorchBinding.Outdated _ -> BindingCache.build(torch);
      case TorchBinding.Broken _ -> BindingCache.build(torch) + " --again";
    };
  }
}
