package io.troupe.gym.factory;

import static io.troupe.core.Require.require;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The configuration of one training by LLaMA-Factory, as YAML.
 *
 * @param model name or folder of the base model
 * @param template name of LLaMA-Factory's chat template
 * @param gpus that it trains on; 0 means the CPU
 * @param overrides of keys, over DataEnvGym's
 */
public record FactorySettings(
    String model, String template, int gpus, Map<String, String> overrides) {
  private static final int EFFECTIVE_BATCH = 16;

  /** Keys that follow from the training itself. */
  static final Set<String> OURS =
      Set.of(
          "dataset",
          "dataset_dir",
          "output_dir",
          "overwrite_output_dir",
          "model_name_or_path",
          "template",
          "gradient_accumulation_steps");

  /** Keys that may be set; LLaMA-Factory itself refuses unknown ones after it has started. */
  private static final Set<String> ALLOWED =
      Set.of(
          "finetuning_type",
          "lora_rank",
          "lora_alpha",
          "lora_dropout",
          "lora_target",
          "use_dora",
          "use_rslora",
          "freeze_trainable_layers",
          "adapter_name_or_path",
          "quantization_bit",
          "flash_attn",
          "trust_remote_code",
          "cutoff_len",
          "max_samples",
          "val_size",
          "packing",
          "neat_packing",
          "mask_history",
          "train_on_prompt",
          "enable_thinking",
          "per_device_train_batch_size",
          "per_device_eval_batch_size",
          "learning_rate",
          "num_train_epochs",
          "max_steps",
          "lr_scheduler_type",
          "warmup_ratio",
          "warmup_steps",
          "weight_decay",
          "max_grad_norm",
          "bf16",
          "fp16",
          "seed",
          "logging_steps",
          "save_steps",
          "save_total_limit",
          "eval_strategy",
          "eval_steps",
          "gradient_checkpointing",
          "preprocessing_num_workers",
          "report_to",
          "plot_loss",
          "optim");

  public FactorySettings {
    overrides = Map.copyOf(overrides);
    require(gpus >= 0, "a training has 0 or more GPUs, not %d", gpus);
    for (Map.Entry<String, String> each : overrides.entrySet()) {
      String key = each.getKey();
      require(
          !OURS.contains(key),
          "%s follows from the training itself and cannot be set; leave it out",
          key);
      require(
          ALLOWED.contains(key),
          "%s is no key that may be set; there are %s",
          key,
          ALLOWED.stream().sorted().collect(Collectors.joining(", ")));
      require(
          !each.getValue().contains("${"),
          "%s holds ${, which LLaMA-Factory's reader replaces; write the value itself",
          key);
    }
  }

  /** Returns these settings with a seed, unless they have one. */
  public FactorySettings withSeed(int seed) {
    Map<String, String> seeded = new LinkedHashMap<>(overrides);
    seeded.putIfAbsent("seed", Integer.toString(seed));
    return new FactorySettings(model, template, gpus, seeded);
  }

  /** Returns the rows of a step of one device. */
  private int deviceBatch() {
    return Integer.parseInt(overrides.getOrDefault("per_device_train_batch_size", "1"));
  }

  /** Returns the batches whose gradients are summed: 16 rows a step, but never 0 batches. */
  int accumulation() {
    return Math.max(1, EFFECTIVE_BATCH / (deviceBatch() * Math.max(1, gpus)));
  }

  /**
   * Returns the rows of a step, which differ from 16 where devices and batches do not divide it.
   */
  public int effectiveBatch() {
    return accumulation() * deviceBatch() * Math.max(1, gpus);
  }

  /**
   * Returns the file.
   *
   * @param dataSets folder with {@code dataset_info.json}
   * @param output a folder that does not exist yet: an old one would be resumed silently
   */
  public String yaml(String dataSet, String dataSets, String output) {
    for (String path : List.of(model, dataSets, output)) {
      require(
          gpus <= 1 || !path.contains(" "),
          "the path '%s' holds a blank, which LLaMA-Factory's launcher of several GPUs splits",
          path);
    }
    Map<String, String> keys = new LinkedHashMap<>();
    keys.put("model_name_or_path", quoted(model));
    keys.put("stage", "sft");
    keys.put("do_train", "true");
    keys.put("finetuning_type", "lora");
    keys.put("lora_target", "all");
    keys.put("dataset_dir", quoted(dataSets));
    keys.put("dataset", quoted(dataSet));
    keys.put("template", quoted(template));
    keys.put("cutoff_len", "1024");
    keys.put("preprocessing_num_workers", "1");
    keys.put("output_dir", quoted(output));
    keys.put("overwrite_output_dir", "true");
    keys.put("logging_steps", "10");
    keys.put("save_steps", "500");
    keys.put("save_total_limit", "1");
    keys.put("plot_loss", "false");
    keys.put("report_to", "none");
    keys.put("per_device_train_batch_size", "1");
    keys.put("gradient_accumulation_steps", Integer.toString(accumulation()));
    keys.put("learning_rate", "1.0e-4");
    keys.put("num_train_epochs", "3.0");
    keys.put("lr_scheduler_type", "cosine");
    keys.put("warmup_ratio", "0.1");
    keys.put("val_size", "0.0");
    overrides.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .forEach(each -> keys.put(each.getKey(), scalar(each.getValue())));
    StringBuilder yaml = new StringBuilder();
    keys.forEach((key, value) -> yaml.append(key).append(": ").append(value).append('\n'));
    return yaml.toString();
  }

  /** A number with an exponent needs a dot, or YAML 1.1 reads it as a text. */
  private static String scalar(String value) {
    if (value.matches("-?[0-9]+[eE][+-]?[0-9]+")) {
      int exponent = Math.max(value.indexOf('e'), value.indexOf('E'));
      return value.substring(0, exponent) + ".0" + value.substring(exponent);
    }
    return value.matches("-?[0-9.]+([eE][+-]?[0-9]+)?|true|false") ? value : quoted(value);
  }

  private static String quoted(String text) {
    return "'" + text.replace("'", "''") + "'";
  }
}
