package io.troupe.app.doctor;

import io.troupe.engine.http.Capabilities;
import io.troupe.engine.http.Capability;
import io.troupe.engine.http.CapabilityProbe;
import io.troupe.engine.http.Endpoint;
import io.troupe.engine.http.EndpointException;
import io.troupe.engine.http.UpdateWay;
import io.troupe.engine.http.Wire;
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

  /** What it finds; an address that is none, or a server that does not answer, is a finding too. */
  public static List<Finding> look(String url) throws InterruptedException {
    return look(url, 0);
  }

  /**
   * The same, for a policy.
   *
   * @param contextLength most tokens of its prompt and completion together; 0 for any
   */
  public static List<Finding> look(String url, int contextLength) throws InterruptedException {
    Endpoint endpoint;
    try {
      endpoint = Endpoint.of(url, 1);
    } catch (IllegalArgumentException wrong) {
      return List.of(
          Finding.fail(
              "endpoint",
              String.valueOf(wrong.getMessage()),
              "write scheme, host and port, such as http://127.0.0.1:8000"));
    }
    try (Wire wire = new Wire(endpoint)) {
      return findings(CapabilityProbe.probe(wire), contextLength);
    } catch (EndpointException away) {
      return List.of(
          Finding.fail(
              "endpoint",
              String.valueOf(away.getMessage()),
              "start the server, or correct the address"));
    }
  }

  private static List<Finding> findings(Capabilities can, int contextLength) {
    List<Finding> findings = new ArrayList<>();
    findings.add(
        Finding.ok(
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
                    Finding.fail(
                        "context",
                        "%d tokens, and the policy's is %d"
                            .formatted(can.maxModelLen(), contextLength),
                        objection)));
    findings.add(
        can.updateWay() == UpdateWay.NONE && can.has(Capability.ADAPTERS)
            ? Finding.warn(
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

  private static Finding weights(Capabilities can) {
    return can.updateWay() == UpdateWay.NONE
        ? Finding.fail("weights", "there is no way to give it new ones", can.updateRemedy())
        : Finding.ok("weights", can.updateWay().name().toLowerCase(Locale.ROOT));
  }

  private static Finding finding(Capability capability, Capabilities can) {
    String name = Capabilities.name(capability);
    if (can.has(capability)) {
      return Finding.ok(name, "yes");
    }
    String remedy = capability.remedy(can.dialect());
    return NEEDED.contains(capability)
        ? Finding.fail(name, "no, and rollouts need it", remedy)
        : Finding.warn(name, "no", remedy);
  }
}
