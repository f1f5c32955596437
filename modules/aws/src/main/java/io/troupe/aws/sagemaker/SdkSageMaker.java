package io.troupe.aws.sagemaker;

import io.troupe.aws.client.AwsClients;
import io.troupe.aws.client.AwsException;
import io.troupe.aws.client.AwsException.Kind;
import io.troupe.aws.client.OpenClients;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.cloudwatchlogs.CloudWatchLogsClient;
import software.amazon.awssdk.services.cloudwatchlogs.model.GetLogEventsResponse;
import software.amazon.awssdk.services.cloudwatchlogs.model.LogStream;
import software.amazon.awssdk.services.cloudwatchlogs.model.OutputLogEvent;
import software.amazon.awssdk.services.sagemaker.SageMakerClient;
import software.amazon.awssdk.services.sagemaker.model.CreateTrainingJobRequest;
import software.amazon.awssdk.services.sagemaker.model.DescribeTrainingJobResponse;

/**
 * SageMaker and CloudWatch Logs through Amazon's SDK. For one thread at a time. A request that was
 * not answered may have been done.
 */
final class SdkSageMaker implements AutoCloseable {
  private static final String GROUP = "/aws/sagemaker/TrainingJobs";

  private final OpenClients clients;

  /** Creates a service that opens its clients at the first request. */
  SdkSageMaker(AwsClients clients) {
    this.clients = new OpenClients(clients, SageMakerFailures::explain);
  }

  private SageMakerClient jobs() {
    return clients.client(SageMakerClient.class, SageMakerClient::builder);
  }

  private CloudWatchLogsClient logs() {
    return clients.client(CloudWatchLogsClient.class, CloudWatchLogsClient::builder);
  }

  /** Creates a job; its name makes that harmless to repeat. */
  void create(CreateTrainingJobRequest request) throws AwsException {
    var _ = clients.ask("CreateTrainingJob", () -> jobs().createTrainingJob(request));
  }

  /** Returns a job as SageMaker shows it; nothing if there is none. */
  Optional<JobView> describe(String name) throws AwsException {
    try {
      return Optional.of(
          view(
              clients.ask(
                  "DescribeTrainingJob",
                  () -> jobs().describeTrainingJob(ask -> ask.trainingJobName(name)))));
    } catch (AwsException failure) {
      if (failure.kind() == Kind.ABSENT) {
        return Optional.empty();
      }
      throw failure;
    }
  }

  private static JobView view(DescribeTrainingJobResponse job) {
    String message =
        job.secondaryStatusTransitions().isEmpty()
            ? ""
            : text(job.secondaryStatusTransitions().getLast().statusMessage());
    return new JobView(
        job.trainingJobName(),
        new JobView.JobState(
            text(job.trainingJobStatusAsString()),
            text(job.secondaryStatusAsString()),
            message,
            text(job.failureReason())),
        new JobView.JobHosts(
            text(job.resourceConfig().instanceTypeAsString()),
            Objects.requireNonNullElse(job.resourceConfig().instanceCount(), 1),
            job.environment().getOrDefault(TrainingJobPlan.SUBMISSION, "")),
        new JobView.JobTimes(
            millis(job.trainingStartTime()),
            millis(job.trainingEndTime()),
            Objects.requireNonNullElse(job.billableTimeInSeconds(), 0)));
  }

  private static String text(@Nullable String value) {
    return value == null ? "" : value;
  }

  private static long millis(@Nullable Instant time) {
    return time == null ? 0 : time.toEpochMilli();
  }

  void stop(String name) throws AwsException {
    var _ =
        clients.ask(
            "StopTrainingJob", () -> jobs().stopTrainingJob(ask -> ask.trainingJobName(name)));
  }

  /** The log streams of a job by now; restarts add streams. */
  List<String> streams(String job) throws AwsException {
    try {
      return clients.ask(
          "DescribeLogStreams",
          () ->
              logs()
                  .describeLogStreamsPaginator(
                      ask -> ask.logGroupName(GROUP).logStreamNamePrefix(job + "/"))
                  .logStreams()
                  .stream()
                  .map(LogStream::logStreamName)
                  .toList());
    } catch (AwsException failure) {
      if (failure.kind() == Kind.ABSENT) { // The group comes with the first line of all jobs.
        return List.of();
      }
      throw failure;
    }
  }

  /**
   * Lines of a stream.
   *
   * @param next token of the following lines; the same as before at the end
   */
  record LogPage(List<String> lines, String next) {
    LogPage {
      lines = List.copyOf(lines);
    }
  }

  /**
   * The lines of a stream from a place on.
   *
   * @param from a former page's {@code next}; empty for the beginning
   */
  LogPage page(String stream, String from) throws AwsException {
    GetLogEventsResponse page =
        clients.ask(
            "GetLogEvents",
            () ->
                logs()
                    .getLogEvents(
                        ask -> {
                          ask.logGroupName(GROUP).logStreamName(stream).startFromHead(true);
                          if (!from.isEmpty()) {
                            ask.nextToken(from);
                          }
                        }));
    return new LogPage(
        page.events().stream().map(OutputLogEvent::message).toList(),
        text(page.nextForwardToken()));
  }

  @Override
  public void close() {
    clients.close();
  }
}
