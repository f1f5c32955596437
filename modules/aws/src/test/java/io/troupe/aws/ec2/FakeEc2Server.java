package io.troupe.aws.ec2;

import com.sun.net.httpserver.HttpExchange;
import io.troupe.aws.client.AwsException;
import io.troupe.aws.ec2.plan.ClusterInstance.MachinePlace;
import io.troupe.aws.ec2.plan.ClusterPart;
import io.troupe.aws.ec2.plan.ClusterRecord;
import io.troupe.aws.ec2.plan.Ec2File;
import io.troupe.aws.ec2.plan.LaunchRequest;
import io.troupe.aws.ec2.plan.ResourceKind;
import io.troupe.testkit.LoopbackServer;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/** {@link FakeEc2} behind EC2's and STS's own protocol: forms in, XML out, on loopback. */
final class FakeEc2Server implements AutoCloseable {
  /** A fault of the next request of an action: status, code, and whether it was done before. */
  record PlayedFault(String action, int status, String code, boolean done) {}

  final FakeEc2 ec2 = new FakeEc2();
  final List<Map<String, String>> requests = Collections.synchronizedList(new ArrayList<>());
  private final Deque<PlayedFault> faults = new ArrayDeque<>();
  private final Map<String, Map<String, String>> groupTags = new TreeMap<>();
  private final LoopbackServer server;

  private FakeEc2Server() throws IOException {
    server = LoopbackServer.start(this::answer);
  }

  static FakeEc2Server start() throws IOException {
    FakeEc2Server fake = new FakeEc2Server();
    fake.ec2.delay = 0;
    return fake;
  }

  String endpoint() {
    return "http://localhost:" + server.port();
  }

  FakeEc2Server fail(String action, int status, String code, boolean done) {
    faults.add(new PlayedFault(action, status, code, done));
    return this;
  }

  List<String> actions() {
    return requests.stream().map(each -> each.getOrDefault("Action", "")).toList();
  }

  Map<String, String> request(String action) {
    return requests.stream()
        .filter(each -> action.equals(each.get("Action")))
        .findFirst()
        .orElseThrow();
  }

  @Override
  public void close() {
    server.close();
  }

  private synchronized void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      Map<String, String> form = new TreeMap<>();
      String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
      for (String pair : body.split("&", -1)) {
        String[] words = pair.split("=", 2);
        form.put(words[0], URLDecoder.decode(words[1], StandardCharsets.UTF_8));
      }
      requests.add(form);
      String action = form.getOrDefault("Action", "");
      PlayedFault fault =
          !faults.isEmpty() && faults.getFirst().action().equals(action)
              ? faults.removeFirst()
              : new PlayedFault(action, 0, "", true);
      String answer = "";
      if (fault.done()) {
        try {
          answer = act(action, form);
        } catch (AwsException refused) {
          String code = String.valueOf(refused.getMessage());
          fault = new PlayedFault(action, 400, code, true);
        }
      }
      if (fault.status() != 0) {
        send(
            exchange,
            fault.status(),
            "<Response><Errors><Error><Code>%s</Code><Message>played</Message></Error></Errors><RequestID>r</RequestID></Response>"
                .formatted(fault.code()));
      } else {
        send(exchange, 200, "<%1$sResponse>%2$s</%1$sResponse>".formatted(action, answer));
      }
    }
  }

  private static void send(HttpExchange exchange, int status, String text) throws IOException {
    exchange.getResponseHeaders().set("Content-Type", "text/xml");
    LoopbackServer.answer(exchange, status, text);
  }

  private String act(String action, Map<String, String> form) throws AwsException {
    return switch (action) {
      case "GetCallerIdentity" ->
          "<GetCallerIdentityResult><Arn>%s</Arn></GetCallerIdentityResult>"
              .formatted(FakeEc2.CALLER);
      case "DescribeInstances" -> describe(form);
      case "DescribeInstanceStatus" -> statuses(form);
      case "DescribeVolumes", "DescribeNetworkInterfaces" ->
          parts(form, "DescribeVolumes".equals(action));
      case "DeleteVolume" -> deletePart(ResourceKind.VOLUME, form.getOrDefault("VolumeId", ""));
      case "DeleteNetworkInterface" ->
          deletePart(ResourceKind.INTERFACE, form.getOrDefault("NetworkInterfaceId", ""));
      case "DescribePlacementGroups" -> groups(form);
      case "RunInstances" -> launch(form);
      case "StartInstances", "StopInstances", "TerminateInstances" -> change(action, form);
      case "CreatePlacementGroup" -> {
        ClusterRecord cluster = cluster(form);
        ec2.createGroup(cluster);
        groupTags.put(ClusterDriver.groupOf(cluster), tags(form));
        yield "<return>true</return>";
      }
      case "DeletePlacementGroup" -> {
        ec2.deleteGroup(form.getOrDefault("GroupName", ""));
        yield "<return>true</return>";
      }
      default -> throw FakeEc2.refusal(AwsException.Kind.REFUSED, "InvalidAction");
    };
  }

  private static Map<String, String> tags(Map<String, String> form) {
    Map<String, String> tags = new TreeMap<>();
    for (int i = 1; form.containsKey("TagSpecification.1.Tag." + i + ".Key"); i++) {
      tags.put(
          form.getOrDefault("TagSpecification.1.Tag." + i + ".Key", ""),
          form.getOrDefault("TagSpecification.1.Tag." + i + ".Value", ""));
    }
    return tags;
  }

  private static ClusterRecord cluster(Map<String, String> form) {
    Map<String, String> tags = tags(form);
    return ClusterRecord.fresh(
        tags.getOrDefault("troupe:cluster", ""), tags.getOrDefault("troupe:nonce", ""));
  }

  private String launch(Map<String, String> form) throws AwsException {
    Ec2File file =
        Ec2File.load(
            Path.of("../../conf/ec2-2x8.yaml"),
            List.of("placement_group=" + form.containsKey("Placement.GroupName")));
    String subnet =
        form.getOrDefault("SubnetId", form.getOrDefault("NetworkInterface.1.SubnetId", ""));
    LaunchRequest request =
        new LaunchRequest(
            form.getOrDefault("ClientToken", ""),
            Integer.parseInt(form.getOrDefault("MinCount", "0")),
            new MachinePlace(form.getOrDefault("InstanceType", ""), subnet),
            0,
            0);
    StringBuilder items = new StringBuilder();
    for (String id : ec2.launch(cluster(form), file, request)) {
      items.append(item("<instanceId>" + id + "</instanceId>"));
    }
    return "<instancesSet>" + items + "</instancesSet>";
  }

  private static String item(String inner) {
    return "<item>" + inner + "</item>";
  }

  private String describe(Map<String, String> form) {
    StringBuilder items = new StringBuilder();
    String nonce = form.getOrDefault("Filter.2.Value.1", "");
    if (!nonce.isEmpty()) {
      ec2.observe(ClusterRecord.fresh("", nonce));
    }
    ec2.instances.forEach(
        (id, each) -> {
          if (nonce.isEmpty() || each.cluster.nonce().equals(nonce)) {
            items.append(item(instance(id, each)));
          }
        });
    return "<reservationSet>"
        + item("<instancesSet>" + items + "</instancesSet>")
        + "</reservationSet>";
  }

  private String parts(Map<String, String> form, boolean volumes) {
    StringBuilder items = new StringBuilder();
    ec2.parts.forEach(
        (id, each) -> {
          if ((each.kind == ResourceKind.VOLUME) == volumes
              && passes(form.getOrDefault("Filter.1.Name", ""), each, form)) {
            items.append(item(volumes ? volume(id, each) : card(id, each)));
          }
        });
    return volumes
        ? "<volumeSet>" + items + "</volumeSet>"
        : "<networkInterfaceSet>" + items + "</networkInterfaceSet>";
  }

  private static boolean passes(String first, FakeEc2.PlayedPart part, Map<String, String> form) {
    return switch (first) {
      case "tag-key" -> "troupe:cluster".equals(form.get("Filter.1.Value.1"));
      case "tag:troupe:cluster" ->
          "tag:troupe:nonce".equals(form.get("Filter.2.Name"))
              && part.cluster.nonce().equals(form.get("Filter.2.Value.1"));
      default -> throw new IllegalArgumentException("filter " + first);
    };
  }

  private static String volume(String id, FakeEc2.PlayedPart part) {
    return part.attachedTo.isEmpty()
        ? "<volumeId>%s</volumeId><status>available</status>%s".formatted(id, tagSet(part.cluster))
        : """
        <volumeId>%s</volumeId><status>in-use</status>
        <attachmentSet><item><instanceId>%s</instanceId></item></attachmentSet>%s
        """
            .formatted(id, part.attachedTo, tagSet(part.cluster));
  }

  private static String card(String id, FakeEc2.PlayedPart part) {
    return part.attachedTo.isEmpty()
        ? "<networkInterfaceId>%s</networkInterfaceId><status>available</status>%s"
            .formatted(id, tagSet(part.cluster))
        : """
        <networkInterfaceId>%s</networkInterfaceId><status>in-use</status>
        <attachment><instanceId>%s</instanceId></attachment>%s
        """
            .formatted(id, part.attachedTo, tagSet(part.cluster));
  }

  private static String tagSet(ClusterRecord cluster) {
    return """
    <tagSet><item><key>troupe:cluster</key><value>%s</value></item>
    <item><key>troupe:nonce</key><value>%s</value></item>
    <item><key>troupe:owner</key><value>%s</value></item></tagSet>
    """
        .formatted(cluster.name(), cluster.nonce(), FakeEc2.CALLER);
  }

  private String deletePart(ResourceKind kind, String id) throws AwsException {
    ec2.deletePart(new ClusterPart(kind, id, ""));
    return "<return>true</return>";
  }

  private static String instance(String id, FakeEc2.Owned each) {
    return """
    <instanceId>%s</instanceId><instanceState><name>%s</name></instanceState>
    <instanceType>%s</instanceType><subnetId>%s</subnetId><launchTime>2020-01-01T08:00:0%d.000Z</launchTime>
    <privateIpAddress>10.0.0.%d</privateIpAddress>
    <tagSet><item><key>troupe:cluster</key><value>%s</value></item><item><key>troupe:nonce</key><value>%s</value></item>
    <item><key>troupe:owner</key><value>%s</value></item><item><key>troupe:launch</key><value>%s</value></item></tagSet>
    """
        .formatted(
            id,
            each.state.name().toLowerCase(Locale.ROOT).replace('_', '-'),
            each.launch.place().type(),
            each.launch.place().subnet(),
            Integer.parseInt(id.substring(2)),
            Integer.parseInt(id.substring(2)),
            each.cluster.name(),
            each.cluster.nonce(),
            FakeEc2.CALLER,
            each.launch.token());
  }

  private static List<String> ids(Map<String, String> form) {
    return IntStream.iterate(1, i -> form.containsKey("InstanceId." + i), i -> i + 1)
        .mapToObj(i -> form.getOrDefault("InstanceId." + i, ""))
        .toList();
  }

  private static String statuses(Map<String, String> form) {
    StringBuilder items = new StringBuilder();
    for (String id : ids(form)) {
      items.append(
          item(
              "<instanceId>%s</instanceId><systemStatus><status>ok</status></systemStatus><instanceStatus><status>ok</status></instanceStatus>"
                  .formatted(id)));
    }
    return "<instanceStatusSet>" + items + "</instanceStatusSet>";
  }

  private String groups(Map<String, String> form) {
    StringBuilder items = new StringBuilder();
    boolean byName = "group-name".equals(form.get("Filter.1.Name"));
    for (String name : ec2.groups) {
      if (!byName || name.equals(form.get("Filter.1.Value.1"))) {
        StringBuilder tags = new StringBuilder();
        groupTags
            .getOrDefault(name, Map.of())
            .forEach(
                (key, value) ->
                    tags.append(item("<key>" + key + "</key><value>" + value + "</value>")));
        items.append(
            item(
                "<groupName>%s</groupName><state>available</state><tagSet>%s</tagSet>"
                    .formatted(name, tags)));
      }
    }
    return "<placementGroupSet>" + items + "</placementGroupSet>";
  }

  private String change(String action, Map<String, String> form) throws AwsException {
    switch (action) {
      case "StartInstances" -> ec2.start(ids(form));
      case "StopInstances" -> ec2.stop(ids(form));
      default -> ec2.terminate(ids(form));
    }
    return "<instancesSet></instancesSet>";
  }
}
