package io.troupe.aws.sagemaker;

import io.troupe.aws.client.AwsException;
import io.troupe.aws.client.PatientRequests;
import io.troupe.aws.container.ContainerRun;
import io.troupe.base.process.ExitCode;
import io.troupe.launch.CommandGroup;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe sagemaker}: runs as training jobs of SageMaker. */
@Command(
    name = "sagemaker",
    subcommands = {SubmitJobCommand.class, DownloadJobCommand.class},
    description = {
      "Submits runs as training jobs of SageMaker, follows and stops them, and fetches what they"
          + " leave.",
      "Safe to repeat: a submission without an answer is sent again under the same name."
    },
    footer = {
      "",
      "Examples:",
      "  troupe sagemaker submit conf/sagemaker-quickstart.yaml --dry-run",
      "  troupe sagemaker submit conf/sagemaker-quickstart.yaml",
      "  troupe sagemaker logs job-20261123-201500 --follow",
      "  troupe sagemaker download job-20261123-201500",
      "  troupe sagemaker submit conf/sagemaker-quickstart.yaml --local job"
    })
public final class SageMakerCommand extends CommandGroup {
  private static final String JOB = "JOB";

  @Command(
      name = "status",
      mixinStandardHelpOptions = true,
      description = {
        "Shows how far a job is, and what it has cost by the price in its file.",
        "Exit code 4 if it failed."
      })
  int status(
      @Parameters(index = "0", paramLabel = JOB, description = "Its name.") String job,
      @Mixin SageMakerOptions options)
      throws IOException, InterruptedException {
    Optional<JobRecord> known = options.known(job);
    try (SdkSageMaker service = options.service(job, known)) {
      JobView view = view(service, options.requests(), job);
      double price = known.map(JobRecord::price).orElse(0.0);
      long now = System.currentTimeMillis();
      options.answer(view.line(price, now), view.description(price, now));
      return code(view);
    }
  }

  private static int code(JobView view) {
    return (view.state().failed() ? ExitCode.FAILED : ExitCode.OK).code();
  }

  private static JobView view(SdkSageMaker service, PatientRequests requests, String job)
      throws AwsException, InterruptedException {
    return requests
        .ask(() -> service.describe(job))
        .orElseThrow(
            () ->
                new AwsException(
                    AwsException.Kind.ABSENT,
                    "there is no job %s in this region and account".formatted(job)));
  }

  @Command(
      name = "logs",
      mixinStandardHelpOptions = true,
      description =
          "Prints what the containers of a job printed, each line behind its host; with --json an"
              + " object a line.")
  int logs(
      @Parameters(index = "0", paramLabel = JOB, description = "Its name.") String job,
      @Mixin SageMakerOptions options,
      @Option(names = "--follow", description = "Until the job ends; exit code 4 if it failed.")
          boolean follow)
      throws IOException, InterruptedException {
    try (SdkSageMaker service = options.service(job, options.known(job))) {
      PatientRequests requests = options.requests();
      JobLog log = new JobLog(service, requests, job, options::line);
      String said = "";
      while (true) {
        JobView view = view(service, requests, job);
        if (!view.state().sentence().equals(said)) {
          said = view.state().sentence();
          options.say(said);
        }
        log.read();
        if (!follow) {
          return ExitCode.OK.code();
        }
        if (view.state().ended()) {
          return code(view);
        }
        options.surroundings().pause(options.surroundings().lookAgain());
      }
    }
  }

  @Command(
      name = "stop",
      mixinStandardHelpOptions = true,
      description = {
        "Stops a job: its run saves itself within two minutes. What it left can be downloaded.",
        "Ends at once; status shows when the job has stopped."
      })
  int stop(
      @Parameters(index = "0", paramLabel = JOB, description = "Its name.") String job,
      @Mixin SageMakerOptions options,
      @Option(names = "--dry-run", description = "Say what would be done; change nothing.")
          boolean dryRun)
      throws IOException, InterruptedException {
    try (SdkSageMaker service = options.service(job, options.known(job))) {
      PatientRequests requests = options.requests();
      JobView view = view(service, requests, job);
      boolean stops = !view.state().ended() && !view.state().status().equals("Stopping");
      if (stops && !dryRun) {
        stop(service, requests, job);
      }
      Map<String, Object> answer = new LinkedHashMap<>();
      answer.put("job", job);
      answer.put("status", view.state().status());
      answer.put("stops", stops && !dryRun);
      options.answer(
          stops
              ? "%s job %s (%s)"
                  .formatted(dryRun ? "would stop" : "stops", job, view.state().phase())
              : "job %s: %s".formatted(job, view.state().sentence()),
          answer);
      return ExitCode.OK.code();
    }
  }

  private static void stop(SdkSageMaker service, PatientRequests requests, String job)
      throws AwsException, InterruptedException {
    try {
      requests.ask(
          () -> {
            service.stop(job);
            return job;
          });
    } catch (AwsException refused) {
      if (!view(service, requests, job).state().ended()) { // It may have ended meanwhile.
        throw refused;
      }
    }
  }

  @Command(
      name = "enter",
      hidden = true,
      mixinStandardHelpOptions = true,
      description = "Works as a host of a training job; SageMaker starts it in each container.")
  int enter() throws IOException, InterruptedException {
    return ContainerRun.enter(System.getenv(), System.out);
  }
}
