/** Containers of docker or podman, driven by the program's command line. */
@NullMarked
package io.troupe.environments.container;

import org.jspecify.annotations.NullMarked;
