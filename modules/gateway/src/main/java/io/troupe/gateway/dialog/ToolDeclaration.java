package io.troupe.gateway.dialog;

/**
 * A tool that an agent offers to the policy.
 *
 * @param parameters a JSON schema of the arguments, as the agent wrote it
 */
public record ToolDeclaration(String name, String description, String parameters) {}
