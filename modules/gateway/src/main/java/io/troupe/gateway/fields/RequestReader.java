package io.troupe.gateway.fields;

/** The part of Troupe that answers a request. */
public enum RequestReader {
  /** The gateway of a run, whose sampling settings are the run's. */
  GATEWAY,
  /** {@code troupe serve}, where the policy may call tools. */
  SERVER_WITH_TOOLS,
  /** {@code troupe serve} otherwise. */
  SERVER
}
