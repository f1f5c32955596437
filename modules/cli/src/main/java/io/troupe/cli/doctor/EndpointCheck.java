package io.troupe.cli.doctor;

import io.troupe.engine.http.client.InferenceCallException;
import io.troupe.engine.http.client.InferenceClient;
import io.troupe.engine.http.client.InferenceEndpoint;
import io.troupe.engine.http.probe.Capabilities;
import io.troupe.engine.http.probe.Capability;
import io.troupe.engine.http.probe.CapabilityProbe;
import io.troupe.engine.http.probe.UpdateMethod;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Looks at an inference server: what it is, what it can do, and what a rollout would miss. */
public final class EndpointCheck {
  private static final Set<Capability> NEEDED =
      Set.of(
          Capability.TOKEN_IDS,
          Capability.LOG_PROBS,
          Capability.SAMPLED_LOG_PROBS,
          Capability.STREAM);

  private EndpointCheck() {}

  /**
   * Checks an endpoint for a policy.
   *
   * @param contextLength most tokens of its prompt and completion together; 0 for any
   */
  public static List<CheckResult> look(String url, int contextLength) throws InterruptedException {
    InferenceEndpoint endpoint;
    try {
      endpoint = InferenceEndpoint.of(url, 1);
    } catch (IllegalArgumentException wrong) {
      return List.of(
          CheckResult.fail(
              "endpoint",
              String.valueOf(wrong.getMessage()),
              "write scheme, host and port, such as http://127.0.0.1:8000"));
    }
    try (InferenceClient wire = new InferenceClient(endpoint)) {
      return findings(CapabilityProbe.probe(wire), contextLength);
    } catch (InferenceCallException away) {
      return List.of(
          CheckResult.fail(
              "endpoint",
              String.valueOf(away.getMessage()),
              "start the server, or correct the address"));
    }
  }

  private static List<CheckResult> findings(Capabilities can, int contextLength) {
    List<CheckResult> findings = new ArrayList<>();
    findings.add(
        CheckResult.ok(
            "server",
            "%s %s, model %s, context %s"
                .formatted(
                    can.dialect().title(),
                    can.server(),
                    can.model(),
                    can.maxModelLen() == 0 ? "unknown" : Integer.toString(can.maxModelLen()))));
    can.contextObjection(contextLength)
        .ifPresent(
            objection ->
                findings.add(
                    CheckResult.fail(
                        "context",
                        "%d tokens, and the policy's is %d"
                            .formatted(can.maxModelLen(), contextLength),
                        objection)));
    findings.add(
        can.updateWay() == UpdateMethod.NONE && can.has(Capability.ADAPTERS)
            ? CheckResult.warn(
                "weights",
                "adapters alone, with rollout.publish: adapters",
                "for all weights, " + can.updateRemedy())
            : weights(can));
    for (Capability capability : Capability.values()) {
      boolean isWay =
          capability == Capability.UPDATE_FROM_DISK
              || capability == Capability.UPDATE_BY_RPC
              || capability == Capability.RELOAD_FROM_PATH;
      if (!isWay) {
        findings.add(finding(capability, can));
      }
    }
    return findings;
  }

  private static CheckResult weights(Capabilities can) {
    return can.updateWay() == UpdateMethod.NONE
        ? CheckResult.fail("weights", "there is no way to give it new ones", can.updateRemedy())
        : CheckResult.ok("weights", can.updateWay().name().toLowerCase(Locale.ROOT));
  }

  private static CheckResult finding(Capability capability, Capabilities can) {
    String name = Capabilities.name(capability);
    if (can.has(capability)) {
      return CheckResult.ok(name, "yes");
    }
    String remedy = capability.remedy(can.dialect());
    return NEEDED.contains(capability)
        ? CheckResult.fail(name, "no, and rollouts need it", remedy)
        : CheckResult.warn(name, "no", remedy);
  }
}
