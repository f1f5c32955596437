package io.troupe.aws.sagemaker;

import io.troupe.aws.client.AwsException;
import io.troupe.aws.client.AwsException.Kind;
import io.troupe.aws.client.RecordFolder;
import io.troupe.aws.container.ContainerFolders;
import io.troupe.aws.container.JobParameters;
import io.troupe.base.hash.Sha256;
import io.troupe.base.process.ExitCode;
import io.troupe.config.RunConfig;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.store.file.StoreJson;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe sagemaker submit}: a run as a training job. */
@Command(
    name = "submit",
    mixinStandardHelpOptions = true,
    description = {
      "Submits the run that FILE names as a training job, and adds a row to the job log.",
      "Repeated after a submission without an answer, it sends that one again, so that no job is"
          + " submitted twice."
    },
    footer = {"", "Exit codes: 0 submitted · 2 bad usage or configuration · 4 refused"})
final class SubmitJobCommand implements Callable<Integer> {
  @Parameters(index = "0", paramLabel = "FILE", description = "Of the job.")
  private @Nullable Path file;

  @Option(names = "--set", paramLabel = "KEY=VALUE", description = "Overrides a key of FILE.")
  private List<String> overrides = new ArrayList<>();

  @Option(
      names = "--name",
      paramLabel = "JOB",
      description = "Of the job; by default the file's name_prefix with date and time.")
  private String name = "";

  @Option(
      names = "--dry-run",
      description = "Print the request and what it may cost; send nothing.")
  private boolean dryRun;

  @Option(
      names = "--local",
      paramLabel = "DIR",
      description =
          "Run what the containers would run, on this machine, with DIR in place of /opt/ml; asks"
              + " Amazon for nothing.")
  private @Nullable Path local;

  @Mixin private SageMakerOptions options = new SageMakerOptions();

  @Override
  public Integer call() throws IOException, InterruptedException {
    SageMakerFile job = SageMakerFile.load(Objects.requireNonNull(file), overrides);
    ResolvedConfig<RunConfig> run = RunConfig.load(job.run().config(), job.run().set());
    if (local != null) {
      LocalJob plan = new LocalJob(job, run, local.toAbsolutePath().normalize());
      if (dryRun) {
        options.answer(
            "would run %d %s in %s"
                .formatted(
                    job.machines().instanceCount(),
                    job.machines().instanceCount() == 1 ? "host" : "hosts",
                    local),
            plan.descriptions());
        return ExitCode.OK.code();
      }
      Map<String, Integer> codes = plan.run(options.json());
      Map<String, Object> answer = new LinkedHashMap<>();
      answer.put("folder", plan.folder().toString());
      answer.put("exit_codes", codes);
      options.answer("the job's folder: " + plan.folder(), answer);
      return codes.values().stream().mapToInt(Integer::intValue).max().orElseThrow();
    }
    String cost = cost(job);
    if (job.limits().budget() > 0 && job.estimate() > job.limits().budget()) {
      throw options.bad("%s; the budget is %s USD".formatted(cost, money(job.limits().budget())));
    }
    JobParameters parameters = parameters(job, run);
    String digest =
        Sha256.hex(
            StoreJson.LINE.writeValueAsBytes(
                RequestJson.of(new TrainingJobPlan(job, "", "", parameters).request())));
    RecordFolder<JobRecord> folder = options.folder();
    try (FileChannel _ = folder.lock("submissions")) {
      JobRecord record = record(job, digest, folder);
      TrainingJobPlan plan =
          new TrainingJobPlan(job, record.name(), record.submission(), parameters);
      if (dryRun) {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("request", RequestJson.of(plan.request()));
        answer.put("estimate_usd", job.estimate());
        options.answer(
            "%s%n%s".formatted(StoreJson.PRETTY.writeValueAsString(answer.get("request")), cost),
            answer);
        return ExitCode.OK.code();
      }
      options.say(cost);
      return submit(plan, record, folder);
    }
  }

  private static String cost(SageMakerFile job) {
    return "%d × %s for at most %s h cost at most %s USD by the price in the file"
        .formatted(
            job.machines().instanceCount(),
            job.machines().instanceType(),
            money(job.limits().maxRuntime().toSeconds() / 3600.0),
            money(job.estimate()));
  }

  private static String money(double usd) {
    return String.format(Locale.ROOT, "%.2f", usd);
  }

  private JobParameters parameters(SageMakerFile job, ResolvedConfig<RunConfig> run)
      throws IOException {
    for (SageMakerFile.DataChannel channel : job.run().channels()) {
      if (!channel.source().startsWith("s3://")) {
        throw options.bad(
            "channel %s: source must be s3://…, not %s; copy it to S3 first"
                .formatted(channel.name(), channel.source()));
      }
    }
    JobConfiguration configuration =
        JobConfiguration.of(
            job, run, ContainerFolders.defaultData(), path -> Files.exists(Path.of(path)));
    if (!configuration.paths().isEmpty()) {
      Map.Entry<String, String> first = configuration.paths().entrySet().iterator().next();
      throw options.bad(
          ("%s is %s, a path of this machine that the job will not have; copy it to S3 and add a"
                  + " channel with source: s3://… and replaces: %s")
              .formatted(first.getKey(), first.getValue(), first.getValue()));
    }
    return new JobParameters(Files.readString(job.run().config()), configuration.assignments());
  }

  /** A submission without an answer is continued; what was answered is not repeated. */
  private JobRecord record(SageMakerFile job, String digest, RecordFolder<JobRecord> folder)
      throws IOException {
    if (!name.isEmpty()) {
      Optional<JobRecord> known = options.known(name);
      if (known.isPresent() && !known.get().digest().equals(digest)) {
        throw options.bad(
            "job %s was submitted from here with another content; names are taken for ever, choose another --name"
                .formatted(name));
      }
      return known.orElseGet(() -> fresh(job, name, digest));
    }
    for (JobRecord each : folder.all()) {
      if (each.digest().equals(digest) && !each.accepted()) {
        options.say("continues the submission of %s, which has no answer".formatted(each.name()));
        return each;
      }
    }
    return fresh(
        job,
        TrainingJobName.of(job.output().namePrefix(), LocalDateTime.now(ZoneId.systemDefault())),
        digest);
  }

  private static JobRecord fresh(SageMakerFile job, String name, String digest) {
    return new JobRecord(
        name,
        Long.toString(new SecureRandom().nextLong() & Long.MAX_VALUE, 36),
        digest,
        job.run().config().toString(),
        new JobRecord.JobPlaces(job.output().runs(name), job.output().results(name)),
        job.machines().instanceCount() * job.machines().pricePerHour(),
        job.region(),
        false);
  }

  private int submit(TrainingJobPlan plan, JobRecord record, RecordFolder<JobRecord> folder)
      throws IOException, InterruptedException {
    if (!record.accepted()) {
      folder.write(record);
      try (SdkSageMaker service = options.service(record.name(), Optional.of(record))) {
        create(plan, record, service, folder);
      }
      folder.write(record.taken());
    }
    SageMakerFile.JobOutputKeys output = plan.file().output();
    if (!output.jobLog().isEmpty()) {
      new JobTable(Path.of(output.jobLog()))
          .add(
              record.name(),
              record.config(),
              output.description(),
              OffsetDateTime.now(ZoneId.systemDefault()));
    }
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("job", record.name());
    answer.put("submitted", !record.accepted());
    answer.put("estimate_usd", plan.file().estimate());
    answer.put("runs", record.output().runs());
    options.answer(
        record.accepted()
            ? "job %s was submitted already".formatted(record.name())
            : "job %1$s; troupe sagemaker logs %1$s --follow".formatted(record.name()),
        answer);
    return ExitCode.OK.code();
  }

  private void create(
      TrainingJobPlan plan, JobRecord record, SdkSageMaker service, RecordFolder<JobRecord> folder)
      throws IOException, InterruptedException {
    try {
      options
          .requests()
          .ask(
              () -> {
                service.create(plan.request());
                return record;
              });
    } catch (AwsException failure) {
      switch (failure.kind()) {
        case EXISTS -> checkOurs(record, service, folder, failure);
        case UNAVAILABLE ->
            throw new AwsException(
                Kind.UNAVAILABLE,
                "%s; whether job %s was submitted is not known: repeat the command"
                    .formatted(failure.getMessage(), record.name()),
                failure);
        case CAPACITY, REFUSED, ABSENT, IN_USE -> {
          folder.forget(record.name());
          throw failure;
        }
      }
    }
  }

  /** The name is taken: by this very submission, whose answer was lost, or by another job. */
  private void checkOurs(
      JobRecord record, SdkSageMaker service, RecordFolder<JobRecord> folder, AwsException failure)
      throws IOException, InterruptedException {
    Optional<JobView> there = options.requests().ask(() -> service.describe(record.name()));
    if (there.filter(job -> job.hosts().submission().equals(record.submission())).isEmpty()) {
      folder.forget(record.name());
      throw new AwsException(
          Kind.EXISTS,
          "%s; the name %s is taken by another job: choose another --name"
              .formatted(failure.getMessage(), record.name()),
          failure);
    }
  }
}
