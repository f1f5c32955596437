package io.troupe.aws.sagemaker;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import io.troupe.store.file.StoreJson;
import io.troupe.testkit.LoopbackServer;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** SageMaker and CloudWatch Logs behind their own protocol, JSON 1.1, on loopback. */
final class FakeSageMaker implements AutoCloseable {
  /** A fault of the next request of an operation: status, code, and whether it was done before. */
  record PlayedFailure(String operation, int status, String code, boolean done) {}

  /** A state that a job shows at one look; the last one stays. */
  record PlayedState(String status, String phase, String failure) {}

  private static final int PAGE = 2;

  final List<String> operations = Collections.synchronizedList(new ArrayList<>());
  final Map<String, JsonNode> jobs = new LinkedHashMap<>();
  final Map<String, List<String>> streams = new LinkedHashMap<>();
  final Deque<PlayedState> states = new ArrayDeque<>();
  private final Deque<PlayedFailure> failures = new ArrayDeque<>();
  private final LoopbackServer server;

  private FakeSageMaker() throws IOException {
    server = LoopbackServer.start(this::answer);
    states.add(new PlayedState("InProgress", "Starting", ""));
  }

  static FakeSageMaker start() throws IOException {
    return new FakeSageMaker();
  }

  String endpoint() {
    return "http://localhost:" + server.port();
  }

  FakeSageMaker fail(String operation, int status, String code, boolean done) {
    failures.add(new PlayedFailure(operation, status, code, done));
    return this;
  }

  FakeSageMaker shows(PlayedState... later) {
    states.clear();
    states.addAll(List.of(later));
    return this;
  }

  @Override
  public void close() {
    server.close();
  }

  /** A refusal by the service's own rules. */
  private static final class Refused extends Exception {
    private static final long serialVersionUID = 1L;
    private final String code;

    Refused(String code, String message) {
      super(message);
      this.code = code;
    }
  }

  private synchronized void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      String target = exchange.getRequestHeaders().getFirst("X-Amz-Target");
      String operation = target.substring(target.indexOf('.') + 1);
      JsonNode request = StoreJson.LINE.readTree(exchange.getRequestBody().readAllBytes());
      operations.add(operation);
      PlayedFailure failure =
          !failures.isEmpty() && failures.getFirst().operation().equals(operation)
              ? failures.removeFirst()
              : new PlayedFailure(operation, 0, "", true);
      ObjectNode answer = StoreJson.LINE.createObjectNode();
      if (failure.done()) {
        try {
          act(operation, request, answer);
        } catch (Refused refused) {
          send(exchange, 400, error(refused.code, String.valueOf(refused.getMessage())));
          return;
        }
      }
      send(
          exchange,
          failure.status() == 0 ? 200 : failure.status(),
          failure.status() == 0 ? answer : error(failure.code(), "played"));
    }
  }

  private static ObjectNode error(String code, String message) {
    return StoreJson.LINE.createObjectNode().put("__type", code).put("message", message);
  }

  private static void send(HttpExchange exchange, int status, ObjectNode body) throws IOException {
    exchange.getResponseHeaders().set("Content-Type", "application/x-amz-json-1.1");
    LoopbackServer.answer(exchange, status, body.toString());
  }

  private void act(String operation, JsonNode request, ObjectNode answer) throws Refused {
    switch (operation) {
      case "CreateTrainingJob" -> create(request, answer);
      case "DescribeTrainingJob" -> describe(request, answer);
      case "StopTrainingJob" -> stop(request);
      case "DescribeLogStreams" -> logStreams(request, answer);
      case "GetLogEvents" -> logEvents(request, answer);
      default -> throw new Refused("UnknownOperationException", operation);
    }
  }

  private void create(JsonNode request, ObjectNode answer) throws Refused {
    String name = request.path("TrainingJobName").asText();
    boolean valid =
        name.matches("[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}")
            && request.path("HyperParameters").size() <= 100
            && request.path("RoleArn").asText().startsWith("arn:aws:iam::");
    for (JsonNode value : request.path("HyperParameters")) {
      valid &= value.asText().length() <= 2_500 && value.asText().indexOf('\n') < 0;
    }
    JsonNode limits = request.path("StoppingCondition");
    if (request.path("EnableManagedSpotTraining").asBoolean()) {
      valid &=
          limits.path("MaxWaitTimeInSeconds").asInt()
              >= limits.path("MaxRuntimeInSeconds").asInt(Integer.MAX_VALUE);
    }
    if (!valid) {
      throw new Refused("ValidationException", "1 validation error detected");
    }
    if (jobs.containsKey(name)) {
      throw new Refused(
          "ResourceInUse", "Training job names must be unique within an AWS account and region");
    }
    jobs.put(name, request);
    answer.put("TrainingJobArn", "arn:aws:sagemaker:us-west-2:123456789012:training-job/" + name);
  }

  private void describe(JsonNode request, ObjectNode answer) throws Refused {
    String name = request.path("TrainingJobName").asText();
    JsonNode job = jobs.get(name);
    if (job == null) {
      throw new Refused("ValidationException", "Requested resource not found.");
    }
    PlayedState state = states.size() > 1 ? states.removeFirst() : states.getFirst();
    answer.put("TrainingJobName", name);
    answer.put("TrainingJobStatus", state.status());
    answer.put("SecondaryStatus", state.phase());
    answer.set("ResourceConfig", job.path("ResourceConfig"));
    answer.set("Environment", job.path("Environment"));
    if (!state.failure().isEmpty()) {
      answer.put("FailureReason", state.failure());
    }
    if (state.status().equals("Completed")) {
      answer.put("BillableTimeInSeconds", 1_800);
    }
  }

  private void stop(JsonNode request) throws Refused {
    if (!jobs.containsKey(request.path("TrainingJobName").asText())) {
      throw new Refused("ResourceNotFound", "Requested resource not found.");
    }
    shows(new PlayedState("Stopping", "Stopping", ""), new PlayedState("Stopped", "Stopped", ""));
  }

  private void logStreams(JsonNode request, ObjectNode answer) throws Refused {
    if (streams.isEmpty()) {
      throw new Refused("ResourceNotFoundException", "The specified log group does not exist.");
    }
    ArrayNode all = answer.putArray("logStreams");
    streams.keySet().stream()
        .filter(each -> each.startsWith(request.path("logStreamNamePrefix").asText()))
        .forEach(each -> all.addObject().put("logStreamName", each));
  }

  private void logEvents(JsonNode request, ObjectNode answer) {
    List<String> lines = streams.getOrDefault(request.path("logStreamName").asText(), List.of());
    String token = request.path("nextToken").asText("f/0");
    int from = Integer.parseInt(token.substring(2));
    int to = Math.min(lines.size(), from + PAGE);
    ArrayNode events = answer.putArray("events");
    lines.subList(from, to).forEach(line -> events.addObject().put("message", line));
    answer.put("nextForwardToken", "f/" + to).put("nextBackwardToken", "b/" + from);
  }
}
