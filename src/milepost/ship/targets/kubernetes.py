"""Kubernetes, by kubectl in the user's context: each release has a Deployment, and a Service names the live one."""

from __future__ import annotations

from milepost.core.errors import TargetRefused
from milepost.core.shipping import ArtifactKind, Health, Release, TargetSpec, VendorCommand
from milepost.ship.targets.answers import Answer, ask, ask_if_there, tell
from milepost.ship.targets.images import REGISTRY, push_image
from milepost.ship.targets.manifests import RELEASE, Manifest, listed, name_of, of_release, of_traffic, scales_itself
from milepost.ship.targets.pack import Pack
from milepost.ship.targets.vendor import ABSENT, Facts, Steps, gone, label, option

FACTS = Facts(
    takes=frozenset({ArtifactKind.IMAGE}),
    options={
        "registry": REGISTRY,
        "context": "the context of your kubeconfig; without it the current one",
        "namespace": "without it that of the context",
        "tls_secret": "the Secret that holds the certificate of `domain`",
        "cpu": "what each instance asks for (250m)",
        "memory": "what each instance asks for and may have (256Mi)",
    },
    required=("registry",),
    name_is_label=True,
)
_ILL = frozenset({"ImagePullBackOff", "ErrImagePull", "InvalidImageName", "CreateContainerConfigError"})
_AGAIN_AND_AGAIN = 3


def kubectl(spec: TargetSpec, *words: str, stdin: object = None, timeout_s: float = 120.0) -> VendorCommand:
    context = ("--context", option(spec, "context")) if option(spec, "context") else ()
    namespace = ("--namespace", option(spec, "namespace")) if option(spec, "namespace") else ()
    return VendorCommand(argv=("kubectl", *context, *namespace, *words), stdin=stdin, timeout_s=timeout_s)


def apply(spec: TargetSpec, manifests: list[Manifest], *words: str) -> VendorCommand:
    owned = ("apply", "--server-side", "--force-conflicts", "--field-manager=milepost", *words, "--filename=-")
    return kubectl(spec, *owned, stdin=listed(manifests))


def deploy(spec: TargetSpec, release: Release, _: Pack) -> Steps[str]:
    """The server looks at all of it before anything is made."""
    yield from tell(
        apply(spec, of_release(spec, release) + of_traffic(spec, release), "--dry-run=server", "--output=name")
    )
    yield from tell(push_image(spec, release))
    yield from tell(apply(spec, of_release(spec, release)))
    return f"deployment/{name_of(spec, release)}"


def health(spec: TargetSpec, release: Release) -> Steps[Health]:
    selector = f"--selector=app.kubernetes.io/name={spec.application},{RELEASE}={label(release)}"
    found = yield from ask(kubectl(spec, "get", "deployments,pods", selector, "--output=json"))
    things = found.each("items")
    deployment = next((each for each in things if each.maybe("kind") == "Deployment"), None)
    if deployment is None:
        return ABSENT
    return _read(deployment, [each for each in things if each.maybe("kind") == "Pod"])


def switch(spec: TargetSpec, release: Release) -> Steps[None]:
    if (yield from ask_if_there(kubectl(spec, "get", f"deployment/{name_of(spec, release)}", "--output=json"))) is None:
        raise gone(spec, release)
    yield from tell(apply(spec, of_traffic(spec, release)))


def retire(spec: TargetSpec, release: Release) -> Steps[None]:
    kinds = "deployments,horizontalpodautoscalers,poddisruptionbudgets,secrets"
    selector = f"--selector=app.kubernetes.io/name={spec.application},{RELEASE}={label(release)}"
    yield from tell(kubectl(spec, "delete", kinds, selector, "--ignore-not-found", "--wait=false"))


def scale(spec: TargetSpec, instances: int) -> Steps[None]:
    name = yield from _live_deployment(spec)
    if scales_itself(spec):
        bounds = f'{{"spec":{{"minReplicas":{instances},"maxReplicas":{max(instances, spec.instances[1])}}}}}'
        yield from tell(kubectl(spec, "patch", f"horizontalpodautoscaler/{name}", "--type=merge", f"--patch={bounds}"))
    else:
        yield from tell(kubectl(spec, "scale", f"deployment/{name}", f"--replicas={instances}"))


def restart(spec: TargetSpec) -> Steps[None]:
    name = yield from _live_deployment(spec)
    yield from tell(kubectl(spec, "rollout", "restart", f"deployment/{name}"))
    yield from tell(kubectl(spec, "rollout", "status", f"deployment/{name}", "--timeout=300s", timeout_s=330.0))


def logs(spec: TargetSpec, release: Release, lines: int) -> Steps[str]:
    selector = f"--selector=app.kubernetes.io/name={spec.application},{RELEASE}={label(release)}"
    reply = yield from tell(
        kubectl(spec, "logs", selector, f"--tail={lines}", "--prefix", "--max-log-requests=50", "--ignore-errors")
    )
    return reply.text


def _live(spec: TargetSpec) -> Steps[str]:
    """The release that the Service names, empty where there is no Service."""
    service = yield from ask_if_there(kubectl(spec, "get", f"service/{spec.application}", "--output=json"))
    return "" if service is None else service.maybe("spec", "selector", RELEASE)


def _live_deployment(spec: TargetSpec) -> Steps[str]:
    if not (live := (yield from _live(spec))):
        raise TargetRefused(f"nothing is live on {spec.name!r}", "deploy something first")
    return f"{spec.application}-{live}"


def _read(deployment: Answer, pods: list[Answer]) -> Health:
    wanted, ready = deployment.number("spec", "replicas"), deployment.number("status", "readyReplicas")
    seen = deployment.number("status", "observedGeneration") >= deployment.number("metadata", "generation")
    conditions = {each.text("type"): each for each in deployment.each("status", "conditions")}
    progress = conditions.get("Progressing")
    if seen and wanted > 0 and ready >= wanted and deployment.number("status", "updatedReplicas") >= wanted:
        return Health(healthy=True, instances=ready)
    ill = next(filter(None, map(_illness, pods)), "")
    given_up = progress is not None and progress.maybe("reason") == "ProgressDeadlineExceeded"
    detail = ill or (progress.maybe("message") if progress is not None else "") or f"{ready} of {wanted} are ready"
    return Health(healthy=False, settled=given_up or bool(ill), instances=ready, detail=detail)


def _illness(pod: Answer) -> str:
    """What of a pod will not get well by waiting."""
    for container in pod.each("status", "containerStatuses"):
        reason = container.maybe("state", "waiting", "reason")
        crashing = reason == "CrashLoopBackOff" and container.number("restartCount") >= _AGAIN_AND_AGAIN
        if reason in _ILL or crashing:
            message = container.maybe("state", "waiting", "message")
            return f"{pod.text('metadata', 'name')}: {reason}{f' ({message})' if message else ''}"
    return ""
