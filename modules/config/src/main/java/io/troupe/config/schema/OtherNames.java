package io.troupe.config.schema;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Keys by the names that they have in TRL's GRPOConfig and SFTConfig, in verl's trainer files and
 * on OpenRLHF's command line.
 */
final class OtherNames {
  /** The keys that a name means, the likeliest first; which of them exist depends on the file. */
  private static final Map<String, List<String>> KEYS = new LinkedHashMap<>();

  static {
    add("rollout.completions_per_prompt", "num_generations", "n", "n_samples_per_prompt");
    add(
        "rollout.max_tokens",
        "max_completion_length",
        "max_new_tokens",
        "max_response_length",
        "response_length",
        "generate_max_len");
    add(
        "policy.context_length",
        "max_prompt_length",
        "prompt_max_len",
        "max_length",
        "max_seq_length",
        "max_model_len",
        "vllm_max_model_length");
    add(
        "training.groups_per_step",
        "per_device_train_batch_size",
        "train_batch_size",
        "rollout_batch_size",
        "ppo_mini_batch_size",
        "gradient_accumulation_steps",
        "generation_batch_size");
    add("training.batch", "per_device_train_batch_size", "train_batch_size");
    add("training.learning_rate", "lr", "actor_learning_rate");
    add("training.steps", "max_steps", "total_training_steps");
    add("training.epochs", "num_train_epochs", "total_epochs", "num_episodes");
    add("training.group_uses", "num_iterations", "ppo_epochs");
    add("training.max_staleness", "steps_per_generation", "staleness_threshold");
    add("training.gradient_clip", "max_grad_norm", "grad_clip", "max_norm");
    add("training.schedule", "lr_scheduler_type", "lr_scheduler", "warmup_style");
    add("training.schedule_warmup_steps", "warmup_steps", "lr_warmup_steps");
    add("training.beta1", "adam_beta1");
    add("training.beta2", "adam_beta2");
    add("training.epsilon", "adam_epsilon");
    add("loss.kl_coefficient", "beta", "kl_coef", "init_kl_coef", "kl_loss_coef", "use_kl_loss");
    add("loss.kl_estimator", "kl_penalty", "kl_loss_type");
    add("loss.clip_low", "epsilon", "clip_ratio", "cliprange", "eps_clip", "clip_ratio_low");
    add("loss.clip_high", "epsilon_high", "clip_ratio_high", "cliprange_high");
    add("loss.clip_dual", "clip_ratio_c", "dual_clip");
    add("loss.objective", "loss_type", "loss_mode", "policy_loss");
    add("loss.baseline", "scale_rewards", "adv_estimator", "advantage_estimator");
    add("loss.mask_truncated", "mask_truncated_completions", "overlong_filter");
    add("loss.entropy_coefficient", "entropy_coeff", "entropy_coef", "entropy_loss_coef");
    add("loss.correction", "vllm_importance_sampling_correction", "rollout_is", "tis");
    add("loss.importance_cap", "vllm_importance_sampling_cap", "tis_imp_ratio_cap");
    add(
        "verifier.rewards",
        "reward_funcs",
        "reward_weights",
        "reward_functions",
        "custom_reward_function",
        "remote_rm_url");
    add("checkpoint.every", "save_steps", "save_freq");
    add("checkpoint.keep", "save_total_limit", "max_actor_ckpt_to_keep", "max_ckpt_num");
    add("evaluation.every", "eval_steps", "test_freq", "eval_interval");
    add("training.evaluate_every", "eval_steps");
    add("tracking", "report_to", "logger", "use_wandb");
    add("run.folder", "output_dir", "default_local_dir", "ckpt_path", "save_path");
    add("run.seed", "data_seed");
    add(
        "policy.checkpoint",
        "model_name_or_path",
        "pretrain",
        "model_path",
        "model",
        "model_id",
        "base_model");
    add("policy.precision", "bf16", "fp16", "dtype", "torch_dtype");
    add("policy.recompute", "gradient_checkpointing", "enable_gradient_checkpointing");
    add("policy.lora.rank", "lora_rank", "lora_r", "r");
    add("policy.lora.alpha", "lora_alpha");
    add("policy.lora.targets", "target_modules", "lora_target_modules");
    add("policy.thinking", "enable_thinking", "chat_template_kwargs");
    add("task.file", "train_files", "dataset_name", "prompt_data", "train_file", "dataset_path");
    add("task.held_out_file", "val_files", "eval_dataset", "eval_file");
    add("task.question", "input_key", "prompt_key", "prompt_column", "dataset_text_field");
    add("task.answer_field", "label_key", "answer_key", "ground_truth_key");
    add("task.split", "dataset_train_split", "prompt_split");
    add("task.subset", "dataset_config", "config_name");
    add("rollout.sidecars", "use_vllm", "vllm_mode", "vllm_num_engines");
    add("rollout.temperature", "sampling_temperature");
  }

  private OtherNames() {}

  private static void add(String key, String... names) {
    for (String name : names) {
      KEYS.merge(name, List.of(key), OtherNames::joined);
    }
  }

  private static List<String> joined(List<String> first, List<String> second) {
    return Stream.concat(first.stream(), second.stream()).toList();
  }

  /** Returns the keys that another program's name means; none if it is not known. */
  static List<String> keys(String name) {
    return KEYS.getOrDefault(name, List.of());
  }

  /** Returns all names and their keys. */
  static Map<String, List<String>> all() {
    return Map.copyOf(KEYS);
  }
}
