/** {@code troupe models}: the models that runs start from. */
@NullMarked
package io.troupe.cli.models;

import org.jspecify.annotations.NullMarked;
