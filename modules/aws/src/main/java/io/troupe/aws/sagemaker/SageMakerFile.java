package io.troupe.aws.sagemaker;

import io.troupe.config.binding.ConfigurationFile;
import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Inline;
import io.troupe.config.schema.Range;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** The file of {@code troupe sagemaker submit}: what a training job runs, and on what. */
public record SageMakerFile(
    @Inline JobRunKeys run,
    @Doc("Region, such as `us-west-2`.") String region,
    @Inline JobMachineKeys machines,
    @Inline JobImageKeys image,
    @Inline JobLimitKeys limits,
    @Inline JobOutputKeys output)
    implements Validated {
  /** The run of the job: its configuration and its data. */
  public record JobRunKeys(
      @Doc("Configuration of the run, as `troupe train` takes it.") Path config,
      @Doc("Assignments over the configuration, each `key=value`.") List<String> set,
      @Doc("Data that SageMaker copies into each container.") List<DataChannel> channels,
      @Doc(
              "GPUs of each host that train, such as `0-5`; `auto` takes those that evaluation"
                  + " leaves; empty leaves it to `policy.device`.")
          @Default("")
          String trainGpus,
      @Doc("GPUs of the first host that evaluate, such as `6,7`.") @Default("") String evalGpus,
      @Doc(
              value = "Evaluate each checkpoint whose step is a multiple; 0 evaluates none.",
              unit = "steps")
          @Default("0")
          @Range(min = 0)
          int evalEvery) {
    public JobRunKeys {
      set = List.copyOf(set);
      channels = List.copyOf(channels);
    }
  }

  /** Data of a job. */
  public record DataChannel(
      @Doc("Its folder below `/opt/ml/input/data`.") String name,
      @Doc("Folder on S3; for `--local`, one of this machine.") String source,
      @Doc(
              "Path in the configuration, of a model or a data file, that this folder stands in for;"
                  + " empty for none.")
          @Default("")
          String replaces) {}

  /** Hosts of a job. */
  public record JobMachineKeys(
      @Doc("Instance type, such as `ml.p5.48xlarge`.") String instanceType,
      @Doc(value = "Hosts.", unit = "instances") @Default("1") @Range(min = 1, max = 1000)
          int instanceCount,
      @Doc(value = "Size of each volume.", unit = "GB") @Default("100") @Range(min = 1, max = 65536)
          int volume,
      @Doc("Spot instances: cheaper, taken away at any time; the run continues on the next ones.")
          @Default("false")
          boolean spot,
      @Doc(
              value = "What an instance costs, for estimates. Nothing asks Amazon for it.",
              unit = "USD per hour")
          @Range(min = 0, minExclusive = true)
          double pricePerHour) {}

  /** The image of the containers, and their network. */
  public record JobImageKeys(
      @Doc("Image in ECR, of `deploy/Dockerfile` with `--target sagemaker`.") String image,
      @Doc("ARN of the role that the containers have.") String role,
      @Doc("Subnets of your network; empty for SageMaker's own.") List<String> subnets,
      @Doc("Security groups, with subnets. They must let the hosts reach each other.")
          List<String> securityGroups,
      @Doc("Have SageMaker encrypt what the hosts send each other.") @Default("false")
          boolean encryptTraffic) {
    public JobImageKeys {
      subnets = List.copyOf(subnets);
      securityGroups = List.copyOf(securityGroups);
    }
  }

  /** The limits of a job's time and cost. */
  public record JobLimitKeys(
      @Doc("SageMaker stops the job after so long at work.") @Default("24h") @Range(min = 60)
          Duration maxRuntime,
      @Doc("With spot: the same, waiting for instances included.") @Default("48h") @Range(min = 60)
          Duration maxWait,
      @Doc(
              value = "A job that may cost more is not submitted; 0 means no limit. Ends nothing.",
              unit = "USD")
          @Default("0")
          @Range(min = 0)
          double budget) {}

  /** The copies and results of a job that are kept. */
  public record JobOutputKeys(
      @Doc(
              "Folder on S3: the job's results are in `OUTPUT/JOB/output`, its run in `OUTPUT/JOB/runs`.")
          String output,
      @Doc("The job is named PREFIX-DATE-TIME. Names are seen by all of the account.")
          @Default("job")
          String namePrefix,
      @Doc("What the row of the job log says; it stays on this machine.") @Default("")
          String description,
      @Doc("Markdown table that gets a row for each job; empty for none.")
          @Default("sagemaker-jobs.md")
          String jobLog,
      @Doc("Tags of the job, each `key=value`.") List<String> tags) {
    public JobOutputKeys {
      tags = List.copyOf(tags);
    }

    /** Returns the place to which the run of a job is copied. */
    public String runs(String job) {
      return "%s/%s/runs".formatted(folder(), job);
    }

    /** Returns the place where SageMaker puts the results of a job. */
    public String results(String job) {
      return "%s/%s/output".formatted(folder(), job);
    }

    private String folder() {
      return output.replaceFirst("/+$", "");
    }
  }

  /** Reads a file. */
  public static SageMakerFile load(Path file, List<String> overrides) {
    return ConfigurationFile.load(SageMakerFile.class, file, overrides).config();
  }

  /** The most that a job can cost, in USD: all hosts until the limit. */
  public double estimate() {
    return machines.instanceCount()
        * machines.pricePerHour()
        * limits.maxRuntime().toSeconds()
        / 3600.0;
  }

  @Override
  public void check(RuleChecker rules) {
    rules
        .on("output")
        .require(
            () -> output.output().matches("s3://[^/]+(/.*)?"),
            "must be a folder on S3",
            "write s3://bucket/folder");
    rules
        .on("name_prefix")
        .require(
            () -> TrainingJobName.isPrefix(output.namePrefix()),
            "must be " + TrainingJobName.PREFIX_RULE,
            "write for example job");
    rules
        .on("max_wait", "max_runtime")
        .require(
            () -> !machines.spot() || limits.maxWait().compareTo(limits.maxRuntime()) >= 0,
            "must be max_runtime or longer with spot",
            "raise it");
    rules
        .on("subnets", "security_groups")
        .require(
            () -> image.subnets().isEmpty() == image.securityGroups().isEmpty(),
            "must be given with security_groups, or not at all",
            "give both, or neither");
    rules
        .on("channels")
        .require(
            () ->
                run.channels().stream()
                        .allMatch(each -> each.name().matches("[A-Za-z0-9._-]{1,64}"))
                    && run.channels().stream().map(DataChannel::name).distinct().count()
                        == run.channels().size()
                    && run.channels().size() <= 20,
            "must be at most 20, with names of their own of letters, digits, '.', '_' and '-'",
            "rename one");
    rules
        .on("eval_gpus", "eval_every")
        .require(
            () -> run.evalGpus().isEmpty() || run.evalEvery() > 0,
            "must be empty without eval_every",
            "set eval_every, or leave eval_gpus out");
    rules
        .on("tags")
        .require(
            () -> output.tags().stream().allMatch(tag -> tag.matches("[^=]{1,128}=.*")),
            "must be key=value",
            "write '- team=research'");
  }
}
